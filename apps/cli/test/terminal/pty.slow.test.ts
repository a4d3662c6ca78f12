import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { atTerminal, hasScript } from '../support/at-terminal.ts';
import { command } from '../support/binary.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

describe.skipIf(!hasScript)('at a terminal (needs script from util-linux)', () => {
  test('asks for approval, accepts a key and restores the terminal', patience, async () => {
    const service = await mockService([
      says('I will write it.', ['write_file', { path: 'a.txt', content: 'one\n' }]),
      says('**Done.**'),
    ]);
    const cwd = temporaryFolder();
    const end = await atTerminal(['write it'], {
      env: claudeAt(service),
      cwd,
      typing: [['deny with a reason', 'y']],
    });
    expect(end.code, end.stdout).toBe(0);
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
    expect(stripVTControlCharacters(end.stdout)).toContain('1 + one');
    expect(end.stdout).toContain('\x1b[1mDone.\x1b[22m');
    expect(end.stdout).toMatch(/✓ complete.*2 turns/);
    expect(end.terminal).toMatch(/[^-]icanon/);
    expect(end.terminal).toMatch(/[^-]echo /);
  });

  test('knows the width of a terminal that was resized a moment ago', patience, async () => {
    const io = fileURLToPath(new URL('../../src/terminal/process-io.ts', import.meta.url));
    const program = `
      import { execFileSync } from 'node:child_process';
      import { processIo } from ${JSON.stringify(io)};
      const { stdout } = processIo();
      const before = stdout.columns();
      const resized = Promise.withResolvers();
      stdout.onResize(() => resized.resolve());
      // Synchronous, so that Node cannot handle the signal before the width is read.
      execFileSync('stty', ['cols', '46'], { stdio: 'inherit' });
      console.log(['columns', before, stdout.columns()].join(' '));
      await resized.promise;
      console.log('told');
      process.exit(0);`;
    const file = join(temporaryFolder(), 'resized.mts');
    writeFileSync(file, program);
    const end = await atTerminal([file], { env: {}, cwd: temporaryFolder(), command: command.slice(0, -1) });
    expect(end.stdout).toMatch(/columns 80 46\s+told/);
  });

  test('ignores keys that are typed before a question', patience, async () => {
    const service = await mockService([
      says('Wait for it.', ['write_file', { path: 'a.txt', content: 'one\n' }]),
      says('Fine.'),
    ]);
    const cwd = temporaryFolder();
    // The shell reads the first line; the remaining keys arrive before any question.
    const typing = [
      ['begin?', 'yes\ryyyy'],
      ['deny with a reason', 'n'],
    ] as const;
    const before = 'echo "begin?"; read -r line;';
    const end = await atTerminal(['write it'], { env: claudeAt(service), cwd, typing, before });
    expect(end.code).toBe(0);
    expect(() => readFileSync(join(cwd, 'a.txt'))).toThrow('ENOENT');
    expect(end.stdout).toContain('A person denied this call.');
  });

  test('Ctrl-C cancels a run during a command and restores the terminal', patience, async () => {
    const service = await mockService([says('', ['run_command', { command: 'echo started; sleep 60' }])]);
    const typing = [
      ['deny with a reason', 'y'],
      ['    started', '\x03'],
    ] as const;
    const end = await atTerminal(['go'], { env: claudeAt(service), cwd: temporaryFolder(), typing });
    expect(end.code, end.stdout).toBe(130);
    expect(end.stdout).toMatch(/stopping/);
    expect(end.stdout).toMatch(/■ cancelled/);
    expect(end.terminal).toMatch(/[^-]icanon/);
  });

  test(
    'uses no alternate screen or mouse, and escapes control sequences of the model [P21]',
    patience,
    async () => {
      const evil = 'a\x1b[?1049hb\x1b]0;title\x07c\x1b]52;c;aGk=\x07d\x1b[2Je\x9b2Jf';
      const service = await mockService([says(evil, ['list_files', { path: evil }]), says(evil)]);
      const end = await atTerminal(['go'], { env: claudeAt(service), cwd: temporaryFolder() });
      expect(end.code, end.stdout).toBe(0);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colors, cursor moves and synchronized output.
      const foreign = end.stdout.replaceAll(/\x1b\[(\d+m|K|\d+[AG]|\?2026[hl])/g, '');
      expect(foreign).not.toContain('\x1b');
      expect(end.stdout).toContain('\\x1b[?1049h');
      expect(end.stdout).toContain('\\x9b2J');
    },
  );

  test('the chat reads keys after the question about the skills of a project', patience, async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, '.claude/commands'), { recursive: true });
    writeFileSync(join(cwd, '.claude/commands/fix.md'), 'Fix it.');
    const typing = [
      ['y yes, n no', 'y', 600],
      ['describe a task', '/exit\r'],
    ] as const;
    const env = { ...claudeAt(await mockService([])), COBBLER_HOME: temporaryFolder() };
    const end = await atTerminal(['chat'], { env, cwd, typing });
    expect(end.code, end.stdout).toBe(0);
    expect(end.stdout).not.toContain('Warning');
  });

  test('shows marks without colors for NO_COLOR', patience, async () => {
    const service = await mockService([says('', ['list_files', {}]), says('**Done.**')]);
    const env = { ...claudeAt(service), NO_COLOR: '1' };
    const end = await atTerminal(['go'], { env, cwd: temporaryFolder() });
    expect(end.stdout).toContain('✓ list_files');
    expect(end.stdout).toContain('**Done.**');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test matches colors.
    expect(end.stdout).not.toMatch(/\x1b\[\d+m/);
  });

  test('writes no escape sequences for TERM=dumb', patience, async () => {
    const service = await mockService([says('', ['list_files', {}]), says('Done.')]);
    const env = { ...claudeAt(service), TERM: 'dumb' };
    const end = await atTerminal(['go'], { env, cwd: temporaryFolder() });
    expect(end.stdout).not.toContain('\x1b');
    expect(end.stdout).toContain('Done.');
  });

  test('writes ASCII for a locale without UTF-8', patience, async () => {
    const service = await mockService([says('', ['list_files', {}]), says('Done.')]);
    const env = { ...claudeAt(service), LANG: 'C' };
    const end = await atTerminal(['go'], { env, cwd: temporaryFolder() });
    expect(end.stdout).toMatch(/ok .*complete/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of the CLI are ASCII too.
    expect(end.stdout).toMatch(/^[\x00-\x7f]*$/);
  });

  test('does not show a typed key', patience, async () => {
    const home = temporaryFolder();
    const end = await atTerminal(['config', 'set-key', 'claude'], {
      env: { COBBLER_HOME: join(home, 'made') },
      cwd: temporaryFolder(),
      typing: [['hidden while', 'sk-ant-typed-0123456789-wxyz\r']],
    });
    expect(end.code, end.stdout).toBe(0);
    expect(end.stdout).not.toContain('typed-0123456789');
    expect(end.stdout).toContain('sk-ant-…wxyz');
    expect(readFileSync(join(home, 'made', 'config.yaml'), 'utf8')).toContain('sk-ant-typed-0123456789-wxyz');
  });
});
