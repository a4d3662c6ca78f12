import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { config, writeSetting } from '../../src/commands/config.ts';
import { fakeIo, fakeKeyboard } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const secret = 'sk-ant-api03-abcdefghijklmnop-3f2a';

describe('config set-key', () => {
  test('stores a piped key in a private file and directory, and shows only its ends [P19]', async () => {
    const home = join(temporaryFolder(), 'new', 'home');
    const io = fakeIo({ env: { COBBLER_HOME: home }, input: `  "${secret}"\n`, errTty: false });
    expect(await config(['set-key', 'claude'], io)).toBe(0);
    const file = join(home, 'config.yaml');
    expect(readFileSync(file, 'utf8')).toBe(`keys:\n  claude: ${secret}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(io.all.join('')).toContain('sk-ant-…3f2a');
    expect(io.all.join('')).not.toContain('abcdefgh');
  });

  test('does not echo a typed key [P19]', async () => {
    const keyboard = fakeKeyboard();
    const home = temporaryFolder();
    const io = fakeIo({ env: { COBBLER_HOME: home }, keyboard });
    const done = config(['set-key', 'openai'], io);
    keyboard.press(...Array.from('sk-tyyped'), { type: 'backspace' }, { type: 'enter' });
    expect(await done).toBe(0);
    expect(keyboard.closed).toBe(true);
    expect(readFileSync(join(home, 'config.yaml'), 'utf8')).toBe('keys:\n  openai: sk-tyype\n');
    expect(io.all.join('')).not.toContain('tyype');
  });

  test('stores nothing after Ctrl-C', async () => {
    const keyboard = fakeKeyboard();
    const io = fakeIo({ env: { COBBLER_HOME: temporaryFolder() }, keyboard });
    const done = config(['set-key', 'openai'], io);
    keyboard.press('s', { type: 'interrupt' });
    await expect(done).rejects.toThrow('Nothing was stored.');
    expect(keyboard.closed).toBe(true);
  });

  test('rejects an invalid key', async () => {
    const env = { COBBLER_HOME: temporaryFolder() };
    await expect(config(['set-key', 'claude'], fakeIo({ env, input: 'two words' }))).rejects.toThrow(
      'This is not a key',
    );
    await expect(config(['set-key', 'claude'], fakeIo({ env, input: '' }))).rejects.toThrow(
      'No key was entered',
    );
  });

  test('names a variable that overrides the key', async () => {
    const env = { COBBLER_HOME: temporaryFolder(), ANTHROPIC_API_KEY: 'other' };
    const io = fakeIo({ env, input: secret });
    await config(['set-key', 'claude'], io);
    expect(io.stderr.text()).toContain('While ANTHROPIC_API_KEY is set, it overrides');
  });
});

describe('writing a setting', () => {
  test('preserves comments and all other settings', async () => {
    const file = join(temporaryFolder(), 'config.yaml');
    writeFileSync(file, '# mine\nmodel: fast # quick\nmaxTurns: 5\n');
    await writeSetting(file, ['model'], 'best');
    expect(readFileSync(file, 'utf8')).toBe('# mine\nmodel: best # quick\nmaxTurns: 5\n');
  });

  test('removes read access of other users [P19]', async () => {
    const file = join(temporaryFolder(), 'config.yaml');
    writeFileSync(file, 'model: fast\n');
    chmodSync(file, 0o644);
    await writeSetting(file, ['keys', 'claude'], secret);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('preserves a symbolic link to the file', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'dotfiles'));
    writeFileSync(join(folder, 'dotfiles', 'c.yaml'), 'model: fast\n');
    symlinkSync(join(folder, 'dotfiles', 'c.yaml'), join(folder, 'config.yaml'));
    await writeSetting(join(folder, 'config.yaml'), ['model'], 'best');
    expect(lstatSync(join(folder, 'config.yaml')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'dotfiles', 'c.yaml'), 'utf8')).toBe('model: best\n');
  });

  test('does not change an invalid file', async () => {
    const file = join(temporaryFolder(), 'config.yaml');
    writeFileSync(file, 'model: [\n');
    await expect(writeSetting(file, ['model'], 'best')).rejects.toThrow(/config\.yaml:\d+: /);
    expect(readFileSync(file, 'utf8')).toBe('model: [\n');
  });

  test('rejects an invalid name or value and stores nothing', async () => {
    const home = temporaryFolder();
    const io = fakeIo({ env: { COBBLER_HOME: home } });
    await expect(config(['set', 'maxTurns', 'many'], io)).rejects.toThrow(
      '"maxTurns" must be a whole number.',
    );
    await expect(config(['set', 'colour', 'red'], io)).rejects.toThrow('there is no setting named "colour"');
    await config(['set', 'maxTurns', '12'], io);
    expect(readFileSync(join(home, 'config.yaml'), 'utf8')).toBe('maxTurns: 12\n');
  });
});

test('config shows every value with its source, and no complete key', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'config.yaml'), `model: best\nmaxUsd: 2\nkeys:\n  openai: ${secret}\n`);
  const io = fakeIo({ env: { COBBLER_HOME: home, ANTHROPIC_API_KEY: secret, COBBLER_MODEL: 'claude:fast' } });
  expect(await config([], io)).toBe(0);
  const rows = io.stdout
    .text()
    .split('\n')
    .map((line) => line.replaceAll(/ {2,}/g, ' | '));
  expect(rows).toContain('provider | claude | COBBLER_MODEL');
  expect(rows).toContain('model | fast | COBBLER_MODEL');
  expect(rows).toContain(`maxUsd | 2 | ${home}/config.yaml:2`);
  expect(rows).toContain('maxTurns | 100 | default');
  expect(rows).toContain('key claude | sk-ant-…3f2a | ANTHROPIC_API_KEY');
  expect(rows).toContain(`key openai | sk-ant-…3f2a | keys.openai in ${home}/config.yaml`);
  expect(io.stdout.text()).not.toContain('abcdefgh');
});
