import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
} from './definition.ts';
import type { FrontMatter } from './front-matter.ts';
import { oneLine, readFrontMatter } from './front-matter.ts';
import { maxTextBytes, PlaceReader } from './place-reader.ts';

/** Maximum number of definitions of one kind. */
const maxDefinitions = 500;
/** Maximum number of files of one skill, and their maximum size in total. */
const maxFiles = 200;
const maxSkillBytes = 10_485_760;
/** Number of definitions that are read at the same time. */
const batch = 16;

const readPlaces = listOf(record<DefinitionPlace>({ folder: text, project: text }, ['folder']));

/** A Markdown file: what every kind has, its content, and where it is. */
interface Source extends Definition, FrontMatter {
  readonly reader: PlaceReader;
  readonly place: DefinitionPlace;
}

/** Reads the skills: the directories in `skills` that contain a file SKILL.md. A skill has the name of its directory. */
export async function readSkills(
  places: readonly DefinitionPlace[],
): Promise<DefinitionList<SkillDefinition>> {
  return await collect(places, 'skills', readSkill);
}

/** Reads the commands: the Markdown files in `commands`. In subdirectories, a name has the form `directory:name`. */
export async function readCommands(
  places: readonly DefinitionPlace[],
): Promise<DefinitionList<CommandDefinition>> {
  return await collect(places, 'commands', async ({ name, description, path, digest, fields, body }) => {
    const argumentHint = oneLine(fields['argument-hint']);
    const text = description || (oneLine(body.slice(0, 80).split('\n')[0]) ?? '');
    return { kind: 'command', name, description: text, path, digest, body, ...defined({ argumentHint }) };
  });
}

/** Reads the agents: the Markdown files in `agents`. */
export async function readAgentDefinitions(
  places: readonly DefinitionPlace[],
): Promise<DefinitionList<AgentDefinition>> {
  return await collect(places, 'agents', readAgent);
}

/** Turns a file into a definition, or returns the reason why it cannot be used. */
type Finish<One> = (source: Source) => Promise<One | string>;

async function collect<One extends Definition>(
  given: readonly DefinitionPlace[],
  kind: 'skills' | 'commands' | 'agents',
  finish: Finish<One>,
): Promise<DefinitionList<One>> {
  const found = new Map<string, One>();
  const skipped: DefinitionList<One>['skipped'][number][] = [];
  let room = maxDefinitions;
  for (const place of read(given, readPlaces, 'places')) {
    const folder = join(place.folder, kind);
    if (!existsSync(folder)) continue;
    const reader = new PlaceReader(place.project);
    const files = await filesIn(reader, folder, kind).catch(reasonOf);
    const tooMany = files.length > room ? `only ${maxDefinitions} ${kind} are read` : undefined;
    const problem = typeof files === 'string' ? files : tooMany;
    if (problem !== undefined) skipped.push({ path: folder, reason: problem });
    const readOne = async (file: string) => {
      const path = join(folder, file);
      const source = { reader, place, path };
      return { path, result: await definitionOf(source, file, kind !== 'commands', finish).catch(reasonOf) };
    };
    const chosen = typeof files === 'string' ? [] : files.slice(0, room);
    room -= chosen.length;
    for (let at = 0; at < chosen.length; at += batch)
      for (const { path, result } of await Promise.all(chosen.slice(at, at + batch).map(readOne))) {
        if (typeof result === 'string') skipped.push({ path, reason: result });
        else if (!found.has(result.name)) found.set(result.name, result);
      }
  }
  return { found: [...found.values()], skipped };
}

function reasonOf(error: unknown): string {
  return AgentError.from(error).message.replace(/\.$/, '');
}

async function filesIn(reader: PlaceReader, folder: string, kind: string): Promise<string[]> {
  if (kind !== 'skills')
    return (await reader.walk(folder, maxDefinitions)).filter((file) => file.endsWith('.md'));
  const names = (await readdir(folder)).sort();
  return names.map((name) => join(name, 'SKILL.md')).filter((file) => existsSync(join(folder, file)));
}

async function definitionOf<One>(
  where: Pick<Source, 'reader' | 'place' | 'path'>,
  file: string,
  needsDescription: boolean,
  finish: Finish<One>,
): Promise<One | string> {
  const bytes = await where.reader.bytes(where.path, maxTextBytes);
  const content = await readFrontMatter(bytes.toString('utf8'));
  if (content.problem !== undefined) return content.problem;
  const name = file.replace(/(\/SKILL)?\.md$/, '').replaceAll('/', ':');
  if (!isName(name)) return 'its name can contain only letters, digits, "-", "_" and "."';
  const description = oneLine(content.fields['description'])?.slice(0, 1024) ?? '';
  if (needsDescription && description === '') return 'it has no description';
  return await finish({ ...where, ...content, name, description, digest: sha256(bytes) });
}

/** True for a name of a definition. */
export function isName(name: string): boolean {
  return /^[A-Za-z0-9][\w.:-]{0,63}$/.test(name);
}

async function readSkill(source: Source): Promise<SkillDefinition | string> {
  const { name, description, path, body, digest, reader, place } = source;
  const folder = dirname(path);
  const own = { kind: 'skill', name, description, path, folder, body } as const;
  if (place.project === undefined) return { ...own, digest };
  const digests = new Map<string, string>();
  let room = maxSkillBytes;
  for (const file of await reader.walk(folder, maxFiles)) {
    const bytes = await reader.bytes(join(folder, file), room);
    room -= bytes.length;
    digests.set(file, sha256(bytes));
  }
  if (digests.size > maxFiles) return `it has more than ${maxFiles} files`;
  // What was read must be what the digest is of.
  if (digests.get('SKILL.md') !== digest) return 'it changed while it was read, or is a link';
  const files = Object.fromEntries(digests);
  return { ...own, digest: sha256(JSON.stringify(files)), project: place.project, files };
}

async function readAgent({ fields, body, ...source }: Source): Promise<AgentDefinition | string> {
  const tools = namesIn(fields['tools']);
  // Another form could be meant to restrict.
  if (tools === undefined) return 'its tools are not a list of names';
  const model = oneLine(fields['model']);
  const name = oneLine(fields['name']) ?? '';
  const isReadOnly = fields['readonly'] === 'true' || fields['permissionMode'] === 'plan';
  return {
    kind: 'agent',
    ...{ name: isName(name) ? name : source.name, description: source.description },
    ...{ path: source.path, digest: source.digest, instructions: body },
    ...(fields['tools'] !== undefined && { tools }),
    ...defined({ model: model === 'inherit' ? undefined : model }),
    ...(isReadOnly && { readOnly: true }),
  };
}

/** Returns the names in a setting, which can be absent; undefined if it is not a list of names. */
export function namesIn(setting: unknown): string[] | undefined {
  const given = typeof setting === 'string' ? setting.split(',') : (setting ?? []);
  const names = Array.isArray(given) ? given.map(oneLine).filter((name) => name !== undefined) : [];
  return Array.isArray(given) && given.length === names.length ? names : undefined;
}

/** Returns a SHA-256 in hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
