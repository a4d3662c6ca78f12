import { join } from 'node:path';
import type { Tool } from '../../interfaces/tool.ts';
import { AgentError } from '../../values/errors.ts';
import { listOf, mapOf, oneOf, read, record, text } from '../../values/input.ts';
import type { SkillDefinition } from './definition.ts';
import { maxTextBytes, PlaceReader } from './place-reader.ts';
import { sha256 } from './read-definitions.ts';

/** Maximum length of the list of skills in characters: about 3,000 tokens. */
const maxList = 12_000;
/** The lengths to which descriptions are shortened, until the list is short enough. */
const lengths = [1024, 500, 250, 120, 80, 40, 0];
/** Maximum number of files in the list of a user's own skill. */
const maxFiles = 200;

const texts = { name: text, description: text, path: text, digest: text, folder: text, body: text };
const readSkillList = listOf(
  record<SkillDefinition>({ ...texts, kind: oneOf('skill'), project: text, files: mapOf(text) }, [
    ...(['name', 'description', 'path', 'digest', 'folder', 'body'] as const),
  ]),
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
    subject: ({ name, file }) => (file === undefined ? String(name) : `${String(name)}/${String(file)}`),
    execute: async ({ name, file }) => await load(known.get(String(name)), String(name), file),
  };
}

function listOfSkills(skills: readonly SkillDefinition[]): string {
  const lists = lengths.map((length) =>
    skills.map(({ name, description }) => {
      const end = description.length > length ? '…' : '';
      return length === 0 ? `- ${name}` : `- ${name}: ${description.slice(0, length).toWellFormed()}${end}`;
    }),
  );
  const texts = lists.map((lines) => lines.join('\n'));
  const last = texts.at(-1) ?? '';
  const cut = `${last.slice(0, last.lastIndexOf('\n', maxList))}\nThere are more, which are not listed.`;
  return texts.find((list) => list.length <= maxList) ?? cut;
}

/** A file must really be in the folder. That of a project must be the one that was there when the skill was read. */
async function load(skill: SkillDefinition | undefined, name: string, file: unknown): Promise<string> {
  if (skill === undefined) throw fault('not_found', `There is no skill ${JSON.stringify(name)}.`);
  const reader = new PlaceReader(skill.project);
  const files =
    skill.files === undefined ? await reader.walk(skill.folder, maxFiles) : Object.keys(skill.files);
  if (file === undefined) {
    const others = files.filter((one) => one !== 'SKILL.md');
    const list = others.length === 0 ? [] : ['Files, which this tool can read:', ...others];
    return [skill.body, '', `Folder of the skill: ${skill.folder}`, ...list].join('\n');
  }
  const path = String(file);
  if (!files.includes(path))
    throw fault('not_found', `The skill ${name} has no file ${JSON.stringify(path)}.`);
  const bytes = await reader.bytes(join(skill.folder, path), maxTextBytes);
  if (skill.files !== undefined && sha256(bytes) !== skill.files[path])
    throw fault('changed', `${JSON.stringify(path)} changed after the user had trusted it.`);
  return bytes.toString('utf8');
}

function fault(code: string, message: string): AgentError {
  return new AgentError({ kind: 'tool', code, message });
}
