import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandNames, commands, flagNames, optionsOf } from '../../src/command-line/command-table.ts';
import { completion } from '../../src/commands/completion.ts';
import { fakeIo } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function script(shell: string): string {
  const io = fakeIo();
  expect(completion(shell, io)).toBe(0);
  return io.stdout.text();
}

/** Returns what bash offers to complete the last of the words. */
function offered(...words: string[]): string[] {
  const line = `${script('bash')}\nCOMP_WORDS=(cobbler "$@"); COMP_CWORD=$#; _cobbler; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync('bash', ['-c', line, 'bash', ...words], { encoding: 'utf8' });
  return stdout.split('\n').filter((word) => word !== '');
}

describe('the completion script for bash', () => {
  test('offers commands, options and their values', () => {
    expect(offered('mo')).toEqual(['models']);
    expect(offered('config', 'set')).toEqual(['set-key', 'set']);
    expect(offered('doctor', '--l')).toEqual(['--live']);
    expect(offered('--max-u')).toEqual(['--max-usd']);
    expect(offered('run', '--api', 're')).toEqual(['responses']);
    expect(offered('run', '-m', 'ba')).toEqual(['balanced']);
    expect(offered('--compact-above', '')).toEqual(['never']);
  });

  test('offers file names where a file is expected, including names with spaces', () => {
    const folder = temporaryFolder();
    for (const name of ['run one.jsonl', 'run.jsonl', 'other.txt']) writeFileSync(join(folder, name), '');
    const files = [join(folder, 'run one.jsonl'), join(folder, 'run.jsonl')];
    for (const before of [['doctor'], ['--replay'], ['run', '--record'], ['doctor', '--fix', '-o']]) {
      expect(offered(...before, join(folder, 'ru')).sort()).toEqual(files);
    }
    expect(offered('doctor', '--f')).toEqual(['--fix']);
    expect(offered('-C', folder)).toEqual([folder]);
  });
});

test.each(['bash', 'zsh', 'fish'])('completion for %s contains every command and every option', (shell) => {
  const lines = script(shell);
  for (const name of commandNames) expect(lines).toContain(name);
  for (const option of commands.flatMap(optionsOf).filter(({ text }) => text !== '')) {
    for (const flag of flagNames(option)) {
      const fish = flag.startsWith('--') ? `-l ${flag.slice(2)} ` : `-s ${flag.slice(1)} `;
      expect(lines).toContain(shell === 'fish' ? fish : flag);
    }
  }
});

test('rejects completion for another shell', () => {
  expect(() => completion('tcsh', fakeIo())).toThrow('There is no shell completion for "tcsh".');
});
