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

/** Samples of the functions that read skills, commands and agents. */
export const definitionSamples: Readonly<Record<string, Sample>> = {
  definitionPlaces: () => [{ folder, root: folder, names: ['.a'], env: { HOME: folder } }],
  expandCommand: () => [{ body: 'Fix $1.' }, 'a'],
  readAgentDefinitions: () => [places],
  readCommands: () => [places],
  readFrontMatter: () => ['---\na: b\n---\ntext'],
  readSkills: () => [places],
  skillTool: () => [[{ ...skill, project: folder, files: { 'SKILL.md': '' } }]],
};
