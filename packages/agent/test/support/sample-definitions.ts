import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sample } from './sample-values.ts';
import { folder } from './sample-values.ts';

const places = [{ folder, project: folder }];
const skill = {
  kind: 'skill',
  name: 'a',
  description: 'A.',
  path: folder,
  digest: '',
  folder,
  body: 'Do it.',
};

const agentFolder = join(folder, 'agent');
mkdirSync(agentFolder);
writeFileSync(join(agentFolder, 'instructions.md'), 'Help.');

/** Samples of the functions that read skills, commands and agents. */
export const definitionSamples: Readonly<Record<string, Sample>> = {
  loadAgent: () => [agentFolder, { importModule: async () => ({}) }],
  readAgentFolder: () => [agentFolder, { importModule: async () => ({}) }],
  definitionPlaces: () => [{ folder, root: folder, names: ['.a'], env: { HOME: folder } }],
  expandCommand: () => [{ body: 'Fix $1.' }, 'a'],
  readAgentDefinitions: () => [places],
  readCommands: () => [places],
  readFrontMatter: () => ['---\na: b\n---\ntext'],
  readSkills: () => [places],
  skillTool: () => [[{ ...skill, project: folder, files: { 'SKILL.md': '' } }]],
};
