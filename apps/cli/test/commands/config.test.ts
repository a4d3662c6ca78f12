import { chmodSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { config, writeSetting } from '../../src/commands/config.ts';
import { fakeIo, fakeKeyboard } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const secret = 'sk-ant-api03-abcdefghijklmnop-3f2a';

describe('config set-key', () => {
  test('stores a piped key in a file and folder for their owner alone, and shows its ends only [P19]', async () => {
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

  test('a typed key is not echoed [P19]', async () => {
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

  test('Ctrl-C stores nothing', async () => {
    const keyboard = fakeKeyboard();
    const io = fakeIo({ env: { COBBLER_HOME: temporaryFolder() }, keyboard });
    const done = config(['set-key', 'openai'], io);
    keyboard.press('s', { type: 'interrupt' });
    await expect(done).rejects.toThrow('Nothing was stored.');
    expect(keyboard.closed).toBe(true);
  });

  test('what cannot be a key is refused', async () => {
    const env = { COBBLER_HOME: temporaryFolder() };
    await expect(config(['set-key', 'claude'], fakeIo({ env, input: 'two words' }))).rejects.toThrow(
      'This is not a key',
    );
    await expect(config(['set-key', 'claude'], fakeIo({ env, input: '' }))).rejects.toThrow(
      'No key was entered',
    );
  });

  test('a variable that goes before it is named', async () => {
    const env = { COBBLER_HOME: temporaryFolder(), ANTHROPIC_API_KEY: 'other' };
    const io = fakeIo({ env, input: secret });
    await config(['set-key', 'claude'], io);
    expect(io.stderr.text()).toContain('While ANTHROPIC_API_KEY is set, it overrides');
  });
});

describe('writing a setting', () => {
  test('leaves comments and everything else as it is', async () => {
    const file = join(temporaryFolder(), 'config.yaml');
    writeFileSync(file, '# mine\nmodel: fast # quick\nmaxTurns: 5\n');
    await writeSetting(file, ['model'], 'best');
    expect(readFileSync(file, 'utf8')).toBe('# mine\nmodel: best # quick\nmaxTurns: 5\n');
  });

  test('a file that others could read no longer is [P19]', async () => {
    const file = join(temporaryFolder(), 'config.yaml');
    writeFileSync(file, 'model: fast\n');
    chmodSync(file, 0o644);
    await writeSetting(file, ['keys', 'claude'], secret);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('a link to the file stays a link', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'dotfiles'));
    writeFileSync(join(folder, 'dotfiles', 'c.yaml'), 'model: fast\n');
    symlinkSync(join(folder, 'dotfiles', 'c.yaml'), join(folder, 'config.yaml'));
    await writeSetting(join(folder, 'config.yaml'), ['model'], 'best');
    expect(lstatSync(join(folder, 'config.yaml')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'dotfiles', 'c.yaml'), 'utf8')).toBe('model: best\n');
  });

  test('a broken file is not touched', async () => {
    const file = join(temporaryFolder(), 'config.yaml');
    writeFileSync(file, 'model: [\n');
    await expect(writeSetting(file, ['model'], 'best')).rejects.toThrow(/config\.yaml:\d+: /);
    expect(readFileSync(file, 'utf8')).toBe('model: [\n');
  });

  test('a value that the setting does not take is refused, and nothing stored', async () => {
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

test('config shows every value with its source, and no key', async () => {
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
