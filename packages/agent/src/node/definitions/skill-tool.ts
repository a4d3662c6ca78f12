import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tool } from '../../interfaces/tool.ts';
import { AgentError } from '../../values/errors.ts';
import { listOf, mapOf, read, record, text } from '../../values/input.ts';
import type { SkillDefinition } from './definition.ts';
import { maxTextBytes, PlaceReader, sha256 } from './place-reader.ts';

/** Maximum length of the list of skills in characters: about 3,000 tokens. */
const maxList = 12_000;
/** The lengths to which descriptions are shortened, until the list is short enough. */
const lengths = [1024, 500, 250, 120, 80, 40, 0];

const readSkillList = listOf(
  record<SkillDefinition>(
    {
      ...{ name: text, description: text, path: text, digest: text, folder: text, body: text },
      ...{ project: text, files: mapOf(text) },
    },
    ['name', 'description', 'path', 'digest', 'folder', 'body'],
  ),
);

/**
 * Returns a tool that gives a model the text of a skill and the skill's other files. Its description lists the names and
 * descriptions of all skills in at most about 3,000 tokens.
 */
export function skillTool(skills: readonly SkillDefinition[]): Tool {
  const known = new Map(read(skills, readSkillList, 'skills').map((skill) => [skill.name, skill]));
  return {
    name: 'skill',
    effect: 'read',
    description:
      'Loads a skill: instructions for a kind of task that the user trusts, and other files of the skill. Load it before ' +
      `you work on a task that it describes. Skills:\n${listOfSkills([...known.values()])}`,
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name of the skill.' },
        file: { type: 'string', description: 'Path of another file of the skill, relative to its folder.' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    execute: async ({ name, file }) => {
      const skill = known.get(String(name));
      if (skill === undefined) throw fault('not_found', `There is no skill ${JSON.stringify(name)}.`);
      return file === undefined ? await introduction(skill) : await fileOf(skill, String(file));
    },
  };
}

function listOfSkills(skills: readonly SkillDefinition[]): string {
  const lines = lengths.map((length) =>
    skills.map(({ name, description }) => lineOf(name, description, length)),
  );
  const best = lines.find((some) => some.join('\n').length <= maxList) ?? lines.at(-1) ?? [];
  const list = best.join('\n');
  if (list.length <= maxList) return list;
  return `${list.slice(0, list.lastIndexOf('\n', maxList))}\nThere are more, which are not listed.`;
}

function lineOf(name: string, description: string, length: number): string {
  if (length === 0) return `- ${name}`;
  return `- ${name}: ${description.length > length ? `${description.slice(0, length - 1).toWellFormed()}…` : description}`;
}

async function filesOf({ folder, project, files }: SkillDefinition): Promise<readonly string[]> {
  return files === undefined ? ((await new PlaceReader(project).walk(folder)) ?? []) : Object.keys(files);
}

async function introduction(skill: SkillDefinition): Promise<string> {
  const others = (await filesOf(skill)).filter((file) => file !== 'SKILL.md');
  const list = others.length === 0 ? '' : `\nFiles, which this tool can read:\n${others.join('\n')}`;
  return `${skill.body}\n\nFolder of the skill: ${skill.folder}${list}`;
}

/** Returns a file that the folder really contains. A file of a project must be the one that was there at the start. */
async function fileOf(skill: SkillDefinition, file: string): Promise<string> {
  if (!(await filesOf(skill)).includes(file)) {
    throw fault('not_found', `The skill ${skill.name} has no file ${JSON.stringify(file)}.`);
  }
  const folder = skill.project === undefined ? await realpath(skill.folder) : skill.folder;
  const bytes = await new PlaceReader(skill.project).bytes(join(folder, file), maxTextBytes);
  if (skill.files !== undefined && sha256(bytes) !== skill.files[file]) {
    throw fault('changed', `${JSON.stringify(file)} changed after the user had trusted it.`);
  }
  return bytes.toString('utf8');
}

function fault(code: string, message: string): AgentError {
  return new AgentError({ kind: 'tool', code, message });
}
