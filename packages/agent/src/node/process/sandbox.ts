/** A program to start. */
export interface ProgramStart {
  /** The program and its arguments, which are not passed through a shell. */
  readonly argv: readonly [string, ...string[]];
  /** Working directory, as a real path. */
  readonly cwd: string;
  /** The complete environment of the program. */
  readonly env: Readonly<Record<string, string>>;
}

/** A program that starts inside a sandbox. */
export interface SandboxedStart extends ProgramStart {
  /** Called once when all processes have ended. Returns what the sandbox undid and refused, in words. */
  leave?(): readonly string[];
}

/** Additional rights of one program. */
export interface SandboxAccess {
  /** The program can open all network connections. Default false: only those that the sandbox allows to some hosts. */
  readonly network?: boolean;
  /** The program can change git's data, but not its hooks and configuration. Default false. */
  readonly git?: boolean;
  /** The program can read the user's logins to package registries, in `~/.npmrc`. Default false. */
  readonly registry?: boolean;
}

/** Restricts what a program and everything it starts can read, change and connect to. */
export interface Sandbox {
  /** `external`: the machine is a sandbox, such as a container. `off`: nothing is restricted. */
  readonly kind: 'bwrap' | 'seatbelt' | 'external' | 'off';
  /**
   * The reason why no sandbox restricts the programs although one was wanted, and what to do. Tools then ask about each
   * command.
   */
  readonly missing?: string;
  /** The hosts that programs can connect to, through a proxy; `['*']` for all, directly; undefined for none. */
  readonly hosts?: readonly string[];
  /** Returns how to start the program inside the sandbox. */
  enter(start: ProgramStart): SandboxedStart;
  /** Returns the same sandbox with additional rights. */
  with(access: SandboxAccess): Sandbox;
  /** Returns which rule probably made a program with this output fail; undefined if none did. */
  explain(output: string): string | undefined;
}
