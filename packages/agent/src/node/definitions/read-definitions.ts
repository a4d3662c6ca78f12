import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import { listOf, read, record, text } from '../../values/input.ts';
import type { DefinitionPlace } from '../definition-places.ts';
import type {
  AgentDefinition,
  CommandDefinition,
  Definition,
  DefinitionList,
  SkillDefinition,
  SkippedDefinition,
} from './definition.ts';
import { oneLine, readFrontMatter } from './front-matter.ts';
import { maxTextBytes, PlaceReader, sha256 } from './place-reader.ts';

/** Maximum number of definitions of one kind. */
const maxDefinitions = 500;
/** Maximum length of a description in characters. */
const maxDescription = 1024;
/** Number of definitions that are read at the same time. */
const batch = 16;

const readPlaces = listOf(record<DefinitionPlace>({ folder: text, project: text }, ['folder']));

/** A definition that is being read. */
interface Candidate {
  readonly reader: PlaceReader;
  readonly place: DefinitionPlace;
  readonly name: string;
  readonly path: string;
}

/** Reads the skills: the directories in `skills` that contain a file SKILL.md. A skill has the name of its directory. */
export async function readSkills(
  places: readonly DefinitionPlace[],
): Promise<DefinitionList<SkillDefinition>> {
  const namesIn = (reader: PlaceReader, folder: string) => reader.names(folder);
  return await collect(places, {
    kind: 'skills',
    file: (name) => join(name, 'SKILL.md'),
    namesIn,
    readOne: readSkill,
  });
}

/** Reads the commands: the Markdown files in `commands`. In subdirectories, a name has the form `directory:name`. */
export async function readCommands(
  places: readonly DefinitionPlace[],
): Promise<DefinitionList<CommandDefinition>> {
  return await collect(places, {
    kind: 'commands',
    file: markdownFile,
    namesIn: markdownNames,
    readOne: readCommand,
  });
}

/** Reads the agents: the Markdown files in `agents`. */
export async function readAgentDefinitions(
  places: readonly DefinitionPlace[],
): Promise<DefinitionList<AgentDefinition>> {
  return await collect(places, {
    kind: 'agents',
    file: markdownFile,
    namesIn: markdownNames,
    readOne: readAgent,
  });
}

function markdownFile(name: string): string {
  return `${name.replaceAll(':', '/')}.md`;
}

async function markdownNames(reader: PlaceReader, folder: string): Promise<string[]> {
  const files = (await reader.names(folder)).length === 0 ? [] : ((await reader.walk(folder)) ?? []);
  return files.filter((file) => file.endsWith('.md')).map((file) => file.slice(0, -3).replaceAll('/', ':'));
}

/** How definitions of one kind are found and read. A string is the reason why one is skipped. */
interface Kind<One> {
  readonly kind: string;
  readonly file: (name: string) => string;
  readonly namesIn: (reader: PlaceReader, folder: string) => Promise<string[]>;
  readonly readOne: (candidate: Candidate) => Promise<One | string | undefined>;
}

async function collect<One extends Definition>(
  given: readonly DefinitionPlace[],
  { kind, file, namesIn, readOne }: Kind<One>,
): Promise<DefinitionList<One>> {
  const found = new Map<string, One>();
  const skipped: SkippedDefinition[] = [];
  let room = maxDefinitions;
  for (const place of read(given, readPlaces, 'places')) {
    const folder = join(place.folder, kind);
    if (!existsSync(folder)) continue;
    const reader = new PlaceReader(place.project);
    const names = await namesIn(reader, folder);
    if (names.length > room)
      skipped.push({ path: folder, reason: `only ${maxDefinitions} ${kind} are read` });
    const candidates = names
      .slice(0, room)
      .map((name) => ({ reader, place, name, path: join(folder, file(name)) }));
    room -= candidates.length;
    for (let at = 0; at < candidates.length; at += batch) {
      const some = candidates.slice(at, at + batch);
      const results = await Promise.all(some.map((candidate) => attempt(candidate, readOne)));
      for (const [index, result] of results.entries()) {
        if (typeof result === 'string') skipped.push({ path: some[index]?.path ?? folder, reason: result });
        else if (result !== undefined && !found.has(result.name)) found.set(result.name, result);
      }
    }
  }
  return { found: [...found.values()], skipped };
}

async function attempt<One>(
  candidate: Candidate,
  readOne: Kind<One>['readOne'],
): Promise<One | string | undefined> {
  try {
    return await readOne(candidate);
  } catch (error) {
    const { code, message } = AgentError.from(error);
    // A directory without SKILL.md is not a skill.
    return code === 'not_found' || code === 'not_directory' ? undefined : message.replace(/\.$/, '');
  }
}

/** The parts that every kind has. */
interface Parts extends Definition {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Reads the file. Returns the reason if it cannot be used. */
async function partsOf(
  { reader, name, path }: Candidate,
  needsDescription: boolean,
): Promise<Parts | string> {
  const bytes = await reader.bytes(path, maxTextBytes);
  const { fields, body, problem } = await readFrontMatter(bytes.toString('utf8'));
  if (problem !== undefined) return problem;
  if (!/^[A-Za-z0-9][\w.:-]{0,63}$/.test(name))
    return 'its name can contain only letters, digits, "-", "_" and "."';
  const description = oneLine(fields['description']);
  if (needsDescription && description === undefined) return 'it has no description';
  const text = (description ?? oneLine(body.slice(0, 80).split('\n')[0]) ?? '').slice(0, maxDescription);
  return { name, description: text, path, digest: sha256(bytes), fields, body };
}

async function readSkill(candidate: Candidate): Promise<SkillDefinition | string> {
  const parts = await partsOf(candidate, true);
  if (typeof parts === 'string') return parts;
  const { name, description, path, body, digest } = parts;
  const { reader, place } = candidate;
  const folder = join(path, '..');
  const own = { name, description, path, folder, body };
  if (place.project === undefined) return { ...own, digest };
  const paths = await reader.walk(folder);
  const files = paths && (await reader.digests(folder, paths));
  if (files === undefined) return 'it has more than 200 files or 10 MiB';
  // What was read must be what the digest is of.
  if (files['SKILL.md'] !== digest) return 'it changed while it was read, or is a link';
  return { ...own, digest: sha256(JSON.stringify(files)), project: place.project, files };
}

async function readCommand(candidate: Candidate): Promise<CommandDefinition | string> {
  const parts = await partsOf(candidate, false);
  if (typeof parts === 'string') return parts;
  const { fields, ...rest } = parts;
  return { ...rest, ...defined({ argumentHint: oneLine(fields['argument-hint']) }) };
}

async function readAgent(candidate: Candidate): Promise<AgentDefinition | string> {
  const parts = await partsOf(candidate, true);
  if (typeof parts === 'string') return parts;
  const { fields, body, ...rest } = parts;
  const tools = toolNames(fields['tools']);
  if (tools === 'invalid') return 'its tools are not a list of names';
  const given = oneLine(fields['model']);
  const name = oneLine(fields['name']) ?? rest.name;
  const readOnly =
    [fields['readonly'], fields['readOnly']].includes('true') || fields['permissionMode'] === 'plan';
  return {
    ...rest,
    name: /^[\w.:-]{1,64}$/.test(name) ? name : rest.name,
    instructions: body,
    ...defined({ tools, model: given === 'inherit' ? undefined : given }),
    ...(readOnly && { readOnly }),
  };
}

/** An unknown form could be meant to restrict, so it is invalid. */
function toolNames(value: unknown): readonly string[] | undefined | 'invalid' {
  if (value === undefined) return undefined;
  const list: readonly unknown[] | undefined =
    typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : undefined;
  const names = list?.map(oneLine);
  if (names === undefined || !names.every((name) => name !== undefined)) return 'invalid';
  return names;
}
