import { relative } from 'node:path';
import type { Tool } from '@cobbler/agent';
import type {
  AgentDefinition,
  CommandDefinition,
  DefinitionList,
  SkillDefinition,
} from '@cobbler/agent/definitions';
import { readAgentDefinitions, readCommands, readSkills, skillTool } from '@cobbler/agent/definitions';
import type { DefinitionPlace } from '@cobbler/agent/node';
import { shortPath } from '../config/directory.ts';
import { projectRoot } from '../config/instructions.ts';
import { acceptedRules, trustRules } from '../config/project-rules.ts';
import type { Environment, Io, Key, Keyboard } from '../terminal/io.ts';
import { reactionMs } from '../terminal/keyboard.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { HookDefinition } from './hook-definitions.ts';
import { ownHooks, projectHooks } from './hook-definitions.ts';
import { ownCommands } from './own-commands.ts';
import { placesFor } from './places.ts';

/** The skills, commands and agents of a run. */
export interface Definitions {
  /** The tool that loads skills, if there are any. */
  readonly tools: readonly Tool[];
  /** Those of the project first, and our own last. */
  readonly commands: readonly CommandDefinition[];
  readonly agents: readonly AgentDefinition[];
  readonly hooks: readonly HookDefinition[];
}

type AnyDefinition = SkillDefinition | CommandDefinition | AgentDefinition | HookDefinition;
type Skipped = DefinitionList<AnyDefinition>['skipped'];

/** A definition of the user, or of a project with what the user decided about it. */
export interface FoundDefinition {
  readonly definition: AnyDefinition;
  /** `changed` if the user decided about other contents. */
  readonly state: 'own' | 'trusted' | 'refused' | 'new' | 'changed';
  /** What is recorded if the user trusts it. */
  readonly entry: string;
}

/** Everything that is found for a directory, with that of the project first. */
export interface FoundDefinitions {
  readonly root: string;
  readonly rows: readonly FoundDefinition[];
  readonly skipped: Skipped;
}

const maxReported = 5;
const maxListed = 30;

/** Reads the definitions for a directory. Without `contextFiles`, those of the project are ignored. */
export async function findDefinitions(
  folder: string,
  contextFiles: boolean,
  env: Environment,
): Promise<FoundDefinitions> {
  const root = projectRoot(folder);
  const { project, user } = placesFor(folder, env);
  const hooks = contextFiles ? await projectHooks(root, env) : { found: [], skipped: [] };
  const theirs = await readKinds(contextFiles ? project : [], hooks);
  const own = await readKinds(user, await ownHooks(env));
  const accepted = new Set(acceptedRules(keyOf(root), env));
  const paths = new Set([...accepted].map(withoutDigest));
  const rows = theirs.found.map((definition): FoundDefinition => {
    // The digest is last, because a path can be anything.
    const entry = `${definition.kind} ${relative(root, definition.path)} sha256:${definition.digest}`;
    const unknown = paths.has(withoutDigest(entry)) ? 'changed' : 'new';
    const state = accepted.has(entry) ? 'trusted' : accepted.has(`not ${entry}`) ? 'refused' : unknown;
    return { definition, entry, state };
  });
  const owned = own.found.map((definition): FoundDefinition => ({ definition, entry: '', state: 'own' }));
  return { root, rows: [...rows, ...owned], skipped: [...theirs.skipped, ...own.skipped] };
}

async function readKinds(
  places: readonly DefinitionPlace[],
  hooks: DefinitionList<HookDefinition>,
): Promise<DefinitionList<AnyDefinition>> {
  const lists = [
    ...[await readSkills(places), await readCommands(places), await readAgentDefinitions(places), hooks],
  ];
  return {
    found: lists.flatMap(({ found }): readonly AnyDefinition[] => found),
    skipped: lists.flatMap(({ skipped }) => skipped),
  };
}

/** Rules are recorded for the path of their directory: no rule of a project can be one of these entries. */
function keyOf(root: string): string {
  return `definitions of ${root}`;
}

function withoutDigest(entry: string): string {
  return entry.replace(/^not /, '').replace(/ sha256:\w+$/, '');
}

/** Reads the definitions that may be used in a directory, as `definitionsIn` describes. */
export async function loadDefinitions(
  folder: string,
  contextFiles: boolean,
  io: Io,
  asks: boolean,
): Promise<Definitions> {
  const found = await findDefinitions(folder, contextFiles, io.env);
  const say = (line: string) => io.stderr.write(`cobbler: ${oneLine(line)}\n`);
  for (const { path, reason } of found.skipped.slice(0, maxReported)) say(`${path} is not used: ${reason}.`);
  if (found.skipped.length > maxReported) say('More files are not used. To list them: cobbler skills');
  const pending = found.rows.filter(({ state }) => state === 'new' || state === 'changed');
  if (pending.length === 0) return usable(found);
  const keyboard = asks && io.stdin.tty && io.stderr.tty ? io.openKeyboard() : undefined;
  if (keyboard === undefined) {
    const what = `Skills, commands, agents or hooks of this project (${pending.length}) are not used`;
    say(`${what}, because you have not trusted them. List them: cobbler skills. Trust them: cobbler trust`);
    return usable(found);
  }
  let decided = found;
  // Only what was listed is decided, so that a screen can show all of it.
  for (let at = 0; at < pending.length; at += maxListed) {
    const listed = pending.slice(at, at + maxListed);
    const more = pending.length - at - listed.length;
    const lines = [titleOf(listed, at > 0), ...definitionLines(found, listed, io.env)];
    const then = more > 0 ? `, then the other ${more}` : '';
    io.stderr.write(`${lines.join('\n')}\nUse them? y yes, n no${then} `);
    const answer = await answerOf(keyboard, io);
    io.stderr.write('\n');
    if (answer.type !== 'text') {
      keyboard.close();
      return io.exit(130);
    }
    decided = decide(decided, listed, /y/i.test(answer.text), io.env);
  }
  keyboard.close();
  return usable(decided);
}

function titleOf(listed: readonly FoundDefinition[], isMore: boolean): string {
  const hasHooks = listed.some(({ definition }) => definition.kind === 'hook');
  const also = hasHooks ? ', and commands that run without approval (hook)' : '';
  return `The author of this project ${isMore ? 'also ' : ''}wrote instructions for the model${also}:`;
}

async function answerOf(keyboard: Keyboard, io: Io): Promise<Key> {
  let keyAt = io.clock.now();
  return await new Promise((resolve) =>
    keyboard.listen((key) => {
      // A letter of a message that is being typed is no answer.
      const isEarly = io.clock.now() - keyAt < reactionMs;
      keyAt = io.clock.now();
      const isAnswer = key.type === 'text' && !isEarly && /^[yn]$/i.test(key.text);
      if (key.type === 'interrupt' || isAnswer) resolve(key);
    }),
  );
}

/** Records whether the user trusts these definitions of a project with their contents. Returns everything with that state. */
export function decide(
  found: FoundDefinitions,
  chosen: readonly FoundDefinition[],
  trusts: boolean,
  env: Environment,
): FoundDefinitions {
  trustRules(
    keyOf(found.root),
    chosen.map(({ entry }) => (trusts ? entry : `not ${entry}`)),
    env,
  );
  const state = trusts ? 'trusted' : 'refused';
  return { ...found, rows: found.rows.map((row) => (chosen.includes(row) ? { ...row, state } : row)) };
}

/** Returns what may be used. Of several with the same name, that of the project comes first. */
function usable({ rows }: FoundDefinitions): Definitions {
  const skills = new Map<string, SkillDefinition>();
  const commands = new Map<string, CommandDefinition>();
  const agents = new Map<string, AgentDefinition>();
  const hooks: HookDefinition[] = [];
  const add = <One extends AnyDefinition>(map: Map<string, One>, one: One) =>
    map.set(one.name, map.get(one.name) ?? one);
  for (const { definition, state } of rows) {
    if (state !== 'own' && state !== 'trusted') continue;
    if (definition.kind === 'command') add(commands, definition);
    else if (definition.kind === 'agent') add(agents, definition);
    else if (definition.kind === 'hook') hooks.push(definition);
    else add(skills, definition);
  }
  for (const skill of skills.values())
    add(commands, { ...skill, kind: 'command', body: `Load the skill ${skill.name} and follow it.` });
  for (const command of ownCommands) add(commands, command);
  return {
    tools: skills.size === 0 ? [] : [skillTool([...skills.values()])],
    commands: [...commands.values()],
    agents: [...agents.values()],
    hooks,
  };
}

/** Returns a line for each definition. */
export function definitionLines(
  { root }: FoundDefinitions,
  rows: readonly FoundDefinition[],
  env: Environment,
): string[] {
  return rows.map(({ definition: { kind, name, path }, state }) => {
    const place = state === 'own' ? shortPath(path, env) : relative(root, path);
    return `  ${kind.padEnd(8)} ${oneLine(name).padEnd(24)} ${state.padEnd(8)} ${oneLine(place)}`;
  });
}
