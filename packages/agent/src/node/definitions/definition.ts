/** What skills, commands and agents have in common. */
export interface Definition {
  readonly name: string;
  /** One line without control characters. */
  readonly description: string;
  /** The path of its Markdown file. */
  readonly path: string;
  /** The SHA-256 of what was read, in hexadecimal. For a skill of a project, this includes all of its files. */
  readonly digest: string;
}

/** A skill: instructions that a model loads when a task needs them. */
export interface SkillDefinition extends Definition {
  readonly kind: 'skill';
  /** The directory with the skill's files. */
  readonly folder: string;
  readonly body: string;
  /** The project that it belongs to. Absent: it is the user's own. */
  readonly project?: string;
  /** The SHA-256 of each file by its path in the folder. Absent for the user's own skills. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A command: a prompt with a name and placeholders for arguments. */
export interface CommandDefinition extends Definition {
  readonly kind: 'command';
  /** What to type after the name, such as `[file]`. */
  readonly argumentHint?: string;
  readonly body: string;
}

/** An agent that work can be delegated to. */
export interface AgentDefinition extends Definition {
  readonly kind: 'agent';
  /** Its system prompt. */
  readonly instructions: string;
  /** The names of its tools. Absent: no choice was made. */
  readonly tools?: readonly string[];
  readonly model?: string;
  /** True if it may only read. */
  readonly readOnly?: boolean;
}

/** The definitions of one kind. The first of several with the same name is used. */
export interface DefinitionList<Kind extends Definition> {
  readonly found: readonly Kind[];
  /** The files that are not used. The reason is a clause without a final period. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}
