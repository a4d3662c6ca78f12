import { relative } from 'node:path';
import type {
  Definition,
  DefinitionList,
  DefinitionPlace,
  SkippedDefinition,
} from '@cobbler/agent/definitions';
import {
  definitionPlaces,
  readAgentDefinitions,
  readCommands,
  readSkills,
  skillTool,
} from '@cobbler/agent/definitions';
import { shortPath } from '../config/directory.ts';
import { projectRoot } from '../config/instructions.ts';
import { acceptedRules, trustRules } from '../config/project-rules.ts';
import type { Environment, Io, Key } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Definitions } from './definitions.ts';
import { ownCommands } from './own-commands.ts';

/** A definition of a user or a project. */
export interface FoundDefinition {
  readonly kind: 'skill' | 'command' | 'agent';
  readonly definition: Definition;
  /** What the user decided about a project's definition; `changed` if it was about other contents. */
  readonly state: 'own' | 'trusted' | 'refused' | 'new' | 'changed';
}

/** Everything that is found for a directory. */
export interface FoundDefinitions {
  readonly root: string;
  readonly rows: readonly FoundDefinition[];
  readonly skipped: readonly SkippedDefinition[];
  /** Returns the definitions that may be used: the project's trusted ones, then the user's. */
  usable(): Definitions;
}

const maxReported = 5;
const maxListed = 30;

/** Reads the definitions for a directory. Without `contextFiles`, those of the project are ignored. */
export async function findDefinitions(
  folder: string,
  { contextFiles }: { readonly contextFiles: boolean },
  env: Environment,
): Promise<FoundDefinitions> {
  const root = projectRoot(folder);
  const { project, user } = definitionPlaces({ folder, root, env });
  const [theirs, own] = [await readKinds(contextFiles ? project : []), await readKinds(user)];
  const stateOf = stateIn(root, env);
  const rows = [
    ...theirs.rows.map((row) => ({ ...row, state: stateOf(entryOf(root, row)) })),
    ...own.rows.map((row) => ({ ...row, state: 'own' as const })),
  ];
  return {
    root,
    rows,
    skipped: [...theirs.skipped, ...own.skipped],
    usable: () => {
      // Read again, because the user may have been asked in the meantime.
      const now = stateIn(root, env);
      const trusts = (kind: string) => (definition: Definition) =>
        now(entryOf(root, { kind, definition })) === 'trusted';
      const skills = merged(theirs.skills.filter(trusts('skill')), own.skills);
      return {
        tools: skills.length === 0 ? [] : [skillTool(skills)],
        commands: [
          ...theirs.commands.filter(trusts('command')),
          ...own.commands,
          ...skills.map((skill) => ({ ...skill, body: `Load the skill ${skill.name} and follow it.` })),
          ...ownCommands,
        ],
        agents: merged(theirs.agents.filter(trusts('agent')), own.agents),
      };
    },
  };
}

/** Reads the definitions that may be used in a directory, as `definitionsIn` describes. */
export async function loadDefinitions(
  folder: string,
  flags: { readonly contextFiles: boolean },
  io: Io,
  asks: boolean,
): Promise<Definitions> {
  const found = await findDefinitions(folder, flags, io.env);
  const say = (line: string) => io.stderr.write(`cobbler: ${oneLine(line)}\n`);
  for (const { path, reason } of found.skipped.slice(0, maxReported)) say(`${path} is not used: ${reason}.`);
  if (found.skipped.length > maxReported) say(`More files are not used. To list them: cobbler skills`);
  const pending = pendingOf(found);
  if (pending.length === 0) return found.usable();
  const keyboard = asks && io.stdin.tty && io.stderr.tty ? io.openKeyboard() : undefined;
  if (keyboard === undefined) {
    const what =
      'skills, commands and agents of this project are not used, because you have not trusted them.';
    say(`${pending.length} ${what} To list them: cobbler skills. To trust them: cobbler trust`);
    return found.usable();
  }
  io.stderr.write(
    `${['The author of this project wrote instructions for the model:', ...definitionLines(found, pending, io.env)].join('\n')}\nUse them? y yes, n no `,
  );
  const answer = await new Promise<Key>((resolve) =>
    keyboard.listen((key) => {
      if (key.type === 'interrupt' || (key.type === 'text' && /^[yn]$/i.test(key.text))) resolve(key);
    }),
  );
  keyboard.close();
  io.stderr.write('\n');
  if (answer.type !== 'text') return io.exit(130);
  decide(found, /y/i.test(answer.text), io.env);
  return found.usable();
}

/** Returns the project's definitions that the user has not decided about. */
export function pendingOf({ rows }: FoundDefinitions): readonly FoundDefinition[] {
  return rows.filter(({ state }) => state === 'new' || state === 'changed');
}

/** Records whether the user trusts the definitions that are new, changed or were refused before, with these contents. */
export function decide({ root, rows }: FoundDefinitions, trusts: boolean, env: Environment): void {
  const open = rows.filter(({ state }) => state !== 'own' && state !== 'trusted');
  const entries = open.map((row) => entryOf(root, row));
  trustRules(keyOf(root), trusts ? entries : entries.map((entry) => `not ${entry}`), env);
}

/** Returns a line for each definition. */
export function definitionLines(
  { root }: Pick<FoundDefinitions, 'root'>,
  rows: readonly FoundDefinition[],
  env: Environment,
  max: number = maxListed,
): string[] {
  const lines = rows.slice(0, max).map(({ kind, definition: { name, path }, state }) => {
    const place = state === 'own' ? shortPath(path, env) : relative(root, path);
    return `  ${kind.padEnd(8)} ${oneLine(name).padEnd(24)} ${state.padEnd(8)} ${oneLine(place)}`;
  });
  return rows.length <= max ? lines : [...lines, `  and ${rows.length - max} more: cobbler skills`];
}

async function readKinds(places: readonly DefinitionPlace[]) {
  const [skills, commands, agents] = await Promise.all([
    readSkills(places),
    readCommands(places),
    readAgentDefinitions(places),
  ]);
  const rowsOf = (kind: FoundDefinition['kind'], { found }: DefinitionList<Definition>) =>
    found.map((definition) => ({ kind, definition }));
  return {
    skills: skills.found,
    commands: commands.found,
    agents: agents.found,
    rows: [...rowsOf('skill', skills), ...rowsOf('command', commands), ...rowsOf('agent', agents)],
    skipped: [...skills.skipped, ...commands.skipped, ...agents.skipped],
  };
}

/** Rules are recorded for the path of their directory: no rule of a project can be one of these entries. */
function keyOf(root: string): string {
  return `definitions of ${root}`;
}

/** Returns what the user accepts: the path and the digest of what was read. The digest is last, and a path can be anything. */
function entryOf(root: string, { kind, definition }: { kind: string; definition: Definition }): string {
  return `${kind} ${relative(root, definition.path)} sha256:${definition.digest}`;
}

function stateIn(root: string, env: Environment): (entry: string) => FoundDefinition['state'] {
  const accepted = new Set(acceptedRules(keyOf(root), env));
  const pathOf = (entry: string) => entry.replace(/^not /, '').replace(/ sha256:\w+$/, '');
  const paths = new Set([...accepted].map(pathOf));
  return (entry) => {
    if (accepted.has(entry)) return 'trusted';
    if (accepted.has(`not ${entry}`)) return 'refused';
    return paths.has(pathOf(entry)) ? 'changed' : 'new';
  };
}

function merged<Kind extends Definition>(first: readonly Kind[], second: readonly Kind[]): readonly Kind[] {
  const names = new Set(first.map(({ name }) => name));
  return [...first, ...second.filter(({ name }) => !names.has(name))];
}
