// The programs in the documents: each TypeScript block that starts with an import is a complete program.
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Block, Page } from './documents.ts';
import { blocksOf } from './documents.ts';

/** A program that was written to a file. */
export interface Program {
  readonly block: Block;
  readonly file: string;
}

export interface Programs {
  readonly programs: readonly Program[];
  /** Path of a tsconfig.json that includes all of them. */
  readonly config: string;
  dispose(): void;
}

/** Ignored by git and the linter. */
const folderName = '.docs-programs';

function typescriptOf(page: Page): Block[] {
  return blocksOf(page).filter(({ language }) => language === 'ts' || language === 'typescript');
}

/** Returns the blocks that compile as written. */
export function wholeProgramsOf(page: Page): Block[] {
  return typescriptOf(page).filter(({ text }) => text.trimStart().startsWith('import '));
}

/** Matches the first line of programs for other libraries. */
const foreign = /^\s*\/\/ (Anthropic SDK|Vercel AI SDK|OpenAI Agents SDK|Claude Agent SDK|AG-UI|openai)\b/;

/** Returns the blocks that are only parts of programs. */
export function fragmentsOf(page: Page): Block[] {
  return typescriptOf(page).filter(({ text }) => !/^\s*import /.test(text) && !foreign.test(text));
}

/**
 * Writes programs to directories in which their imports resolve: next to the package that has their dependencies, or
 * next to the tests.
 */
export function writePrograms(root: string, blocks: readonly Block[]): Programs {
  const home = join(root, 'tests', folderName);
  const folders = new Set([home, ...blocks.map((block) => folderOf(root, block))]);
  const dispose = () => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  };
  dispose();
  mkdirSync(home, { recursive: true });
  const programs = blocks.map((block): Program => ({ block, file: writeProgram(root, block) }));
  const config = join(home, 'tsconfig.json');
  const options = {
    noUnusedLocals: false,
    noUnusedParameters: false,
    isolatedDeclarations: false,
    declaration: false,
  };
  const content = {
    extends: '../../tsconfig.base.json',
    compilerOptions: { ...options, ...remembered, paths: templatePaths(root, home) },
    files: programs.map(({ file }) => relative(home, file)),
  };
  writeFileSync(config, JSON.stringify(content, undefined, 2));
  return { programs, config, dispose };
}

/** Caches the compilation, because most of its time is spent on unchanged sources. */
const remembered = {
  incremental: true,
  tsBuildInfoFile: '../../node_modules/.cache/docs-programs.tsbuildinfo',
};

/** Writes one program to a directory in which its imports resolve. */
export function writeProgram(root: string, block: Block): string {
  const folder = folderOf(root, block);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${block.page.replaceAll(/\W/g, '-')}-${block.line}.ts`);
  // Blank lines before the program make errors and stack traces show the line numbers of the page.
  writeFileSync(file, `${'\n'.repeat(block.line - 1)}${block.text}\n`);
  return file;
}

function folderOf(root: string, block: Block): string {
  return join(root, homeOf(root, block), folderName);
}

/** Returns the packages that `npm run new` would create from the templates. */
function templatePaths(root: string, from: string): Record<string, string[]> {
  const entries = globSync('templates/*/src/index.ts', { cwd: root }).flatMap((entry) => {
    const kind = entry.split(/[\\/]/)[1] ?? '';
    const path = relative(from, join(root, dirname(entry)));
    return [
      [`@cobbler/${kind}-your-own`, [`${path}/index.ts`]],
      [`@cobbler/${kind}-your-own/testing`, [`${path}/testing/index.ts`]],
    ];
  });
  return Object.fromEntries(entries) as Record<string, string[]>;
}

/** Returns the directory from which all imports of a program resolve. */
function homeOf(root: string, { text }: Block): string {
  const names = [...text.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name = '']) => name);
  const foreign = names.filter((name) => !/^(@cobbler\/|zod$|node$)/.test(name));
  const packages = globSync('packages/*', { cwd: root }).sort();
  const has = (folder: string) =>
    foreign.every((name) => existsSync(join(root, folder, 'node_modules', name)));
  return foreign.length === 0 ? 'tests' : (packages.find(has) ?? 'tests');
}
