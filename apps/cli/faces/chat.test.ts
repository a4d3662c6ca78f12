import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { widthOf } from '../src/terminal/text-width.ts';
import { claudeAt, mockService, says } from '../test/support/mock-service.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { slowly } from './slow-answer.ts';
import { atTerminal } from './tmux.ts';

const patience = { timeout: 120_000 };

/** Starts a chat in a terminal with a scripted model. */
async function chatWith(
  script: Parameters<typeof mockService>[0],
  options: {
    readonly columns: number;
    readonly rows?: number;
    readonly env?: Record<string, string>;
    readonly args?: readonly string[];
  },
) {
  const service = await mockService(script);
  const home = join(temporaryFolder(), 'home');
  const env = { ...claudeAt(service), COBBLER_HOME: home, ...options.env };
  const terminal = await atTerminal(['chat', ...(options.args ?? [])], { ...options, env });
  await terminal.until(/describe a task/);
  return { ...terminal, home, service };
}

/** Types a line and presses Enter. */
function say(terminal: Awaited<ReturnType<typeof atTerminal>>, text: string): void {
  terminal.type(text);
  terminal.press('Enter');
}

/** True if a process is running. A zombie, which has ended but is not reaped, is not. */
function isRunning(pid: number): boolean {
  return /^[^Z]/.test(
    spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim(),
  );
}

/** Removes all whitespace from a text. */
function joined(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** Expects every line to fit the width of the terminal. */
function fits(text: string, columns: number): void {
  for (const line of text.split('\n')) expect(widthOf(line), line).toBeLessThanOrEqual(columns);
}

describe.each([40, 80, 200])('at %d columns', (columns) => {
  test('plays the demo with approvals and fits every line', patience, async () => {
    const terminal = await atTerminal(['chat', '--demo'], {
      columns,
      rows: 40,
      env: { TMPDIR: temporaryFolder() },
    });
    await terminal.until(/describe a task/);
    say(terminal, 'fix the failing test');
    for (const call of ['run_command', 'edit_file', 'run_command']) {
      await terminal.until(new RegExp(`\\? ${call}[\\s\\S]*e deny with\\s+a\\s+reason[^✓✗]*$`));
      // The chat ignores a key that arrives too soon after the question appears.
      await new Promise((next) => setTimeout(next, 700));
      terminal.press('y');
      await terminal.until(new RegExp(`${call}[\\s\\S]*[✓✗] `));
    }
    await terminal.until(/Done\. All[\s\S]*✓ [\d.]+ s/);
    const all = terminal.all();
    fits(all, columns);
    expect(joined(all)).toContain('cents+=prices[job.kind]*job.count;');
    expect(all.match(/type a message to steer/g)).toBeNull();
    expect(all.match(/describe a task/g)).toHaveLength(1);
    terminal.press('C-c');
    terminal.press('C-c');
    await terminal.until(/[^-]icanon[\s\S]*[^-]echo /);
    expect(terminal.all()).toContain('\nexit 0\n');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test matches control sequences.
    expect(terminal.bytes()).not.toMatch(/\x1b\[\?(1049|47|1000|1002|1003|1006)h/);
    expect(terminal.bytes()).toContain('\x1b[?2004l');
  });
});

test(
  'keeps one footer and the whole response when the terminal is resized during streaming',
  patience,
  async () => {
    const words = Array.from({ length: 120 }, (_, index) => `word${index}`).join(' ');
    const chat = await chatWith([slowly(words, 120, 25)], { columns: 80 });
    say(chat, 'tell me');
    for (const [word, columns] of [
      ['word10', 46],
      ['word40', 120],
      ['word70', 60],
    ] as const) {
      await chat.until((text) => joined(text).includes(word));
      chat.resize(columns);
    }
    await chat.until(/word119[\s\S]*✓/);
    const all = chat.all();
    expect(all.match(/describe a task/g)).toHaveLength(1);
    expect(chat.screen().match(/claude-test · ask/g)).toHaveLength(1);
    // A terminal that becomes narrower wraps its existing lines in the middle of words.
    expect(joined(all)).toContain(joined(words));
    fits(chat.screen(), 60);
  },
);

test('shows wide characters and emoji where they are typed, within the width', patience, async () => {
  const chat = await chatWith(
    [says('日本語のテキスト 👨‍👩‍👧 und ein längerer Satz, der umbrochen werden muss: 表示幅。')],
    { columns: 40 },
  );
  chat.type('日本語');
  await chat.until('› 日本語');
  expect(chat.cursor().x).toBe(2 + 6);
  chat.press('Left');
  chat.type('x');
  await chat.until('› 日本x語');
  expect(chat.cursor().x).toBe(2 + 5);
  chat.press('Enter');
  await chat.until(/表示幅[\s\S]*✓/);
  fits(chat.all(), 40);
});

test(
  'shows the last five of 10,000 lines of tool output, and all of them after Ctrl-O',
  patience,
  async () => {
    const script = [says('', ['run_command', { command: 'seq 1 10000' }]), says('Counted.')];
    const chat = await chatWith(script, { columns: 80, args: ['--yes'] });
    say(chat, 'count');
    await chat.until('Counted.');
    const all = chat.all();
    expect(all).toMatch(/9996\n\s+9997\n\s+9998\n\s+9999\n\s+10000\n\s+\+ \d[\d.k,]* lines/);
    expect(all.split('\n').length).toBeLessThan(40);
    chat.press('C-o');
    await chat.until(/\n {2}10000\n/);
    expect(chat.all()).toMatch(/\n {2}1\n {2}2\n {2}3\n/);
  },
);

test('shows marks without colors for NO_COLOR, and ASCII for a locale without UTF-8', patience, async () => {
  const script = () => [says('**Well.**', ['list_files', {}]), says('Done.')];
  const plain = await chatWith(script(), { columns: 80, env: { NO_COLOR: '1' } });
  say(plain, 'go');
  await plain.until('Done.');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test matches colors.
  expect(plain.bytes()).not.toMatch(/\x1b\[\d+(;\d+)*m/);
  expect(plain.all()).toContain('✓ list_files');
  const ascii = await chatWith(script(), { columns: 80, env: { LANG: 'C' } });
  say(ascii, 'go');
  await ascii.until('Done.');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of the CLI are ASCII too.
  expect(ascii.bytes()).toMatch(/^[\x00-\x7f]*$/);
  expect(ascii.all()).toContain('ok list_files');
});

test('writes at most 10 KB for a 1,400-character response in 200 chunks', patience, async () => {
  const words = Array.from(
    { length: 200 },
    (_, index) => `word${String(index % 100).padStart(2, '0')} `,
  ).join('');
  const chat = await chatWith([slowly(words, 200, 15)], { columns: 80 });
  const before = chat.bytes().length;
  say(chat, 'tell me');
  await chat.until(/✓ [\d.]+ m?s/);
  const sent = chat.bytes().length - before;
  process.stderr.write(`bytes for 1,400 characters in 200 pieces: ${sent}\n`);
  expect(sent).toBeLessThanOrEqual(10_000);
});

test('escapes all control sequences in a response', patience, async () => {
  const evil = 'a\x1b[?1049hb\x1b]0;title\x07c\x1b]52;c;aGk=\x07d\x1b[2Je\x9b2Jf\u202eg';
  const chat = await chatWith([says(evil, ['list_files', { path: evil }]), says(evil)], { columns: 80 });
  say(chat, 'go');
  await chat.until(/✓ [\d.]+ m?s/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors, cursor moves, pasting and synchronized output.
  const foreign = chat.bytes().replaceAll(/\x1b\[(\d+m|K|J|\d+[ABG]|\?20(26|04)[hl])/g, '');
  expect(foreign).not.toContain('\x1b');
  expect(foreign).not.toContain('\x07');
  expect(chat.all()).toContain('\\x1b[?1049h');
});

test('reacts to Ctrl-C within a second and ends a command that ignores SIGTERM', patience, async () => {
  const command = 'trap "" TERM; sleep 60 & echo $$ $! > pids; wait; sleep 60';
  const chat = await chatWith([says('', ['run_command', { command }])], { columns: 80, args: ['--yes'] });
  say(chat, 'go');
  const file = join(chat.cwd, 'pids');
  await chat.until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  const pids = readFileSync(file, 'utf8').trim().split(' ').map(Number);
  expect(pids.filter(isRunning)).toHaveLength(2);
  const began = performance.now();
  chat.press('C-c');
  await chat.until(/stopping|cancelled/);
  expect(performance.now() - began).toBeLessThan(1000);
  await chat.until('■ cancelled');
  expect(chat.screen()).toContain('describe a task');
  // The command and its child ignore SIGTERM, so the chat must kill both.
  await chat.until(() => !pids.some(isRunning));
  expect(performance.now() - began).toBeLessThan(4000);
});

test('restores the terminal on Ctrl-Z and keeps the typed text when it continues', patience, async () => {
  const chat = await chatWith([says('Hello.')], { columns: 80 });
  chat.type('half a line');
  await chat.until('half a line');
  chat.press('C-z');
  // tmux continues a stopped program immediately.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test matches control sequences.
  await chat.until(() => /\x1b\[\?2004h[\s\S]*\x1b\[\?2004l[\s\S]*\x1b\[\?2004h/.test(chat.bytes()));
  await chat.until((text) => text.split('half a line').length === 2);
  chat.press('Enter');
  await chat.until('Hello.');
});

test('leaves only private files in its home directory [P23]', patience, async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'a.txt'), 'one\n');
  const script = [
    says('', ['edit_file', { path: 'a.txt', old_text: 'one', new_text: 'two' }]),
    says('Done.'),
  ];
  const service = await mockService(script);
  const home = join(temporaryFolder(), 'home');
  const user = temporaryFolder();
  const env = { ...claudeAt(service), COBBLER_HOME: home, HOME: user };
  const chat = await atTerminal(['chat', '--yes'], { columns: 80, env, cwd });
  await chat.until('describe a task');
  chat.type('edit');
  chat.press('Enter');
  await chat.until('Done.');
  chat.press('C-d');
  await chat.until(/continue: cobbler chat -s [0-9a-f]{8}\nexit 0/);
  expect(readdirSync(cwd)).toEqual(['a.txt']);
  expect(readdirSync(user)).toEqual([]);
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter(
    ({ parentPath, name }) => !join(parentPath, name).includes('compiled'),
  );
  const kept = files.map((entry) => {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
    return `${mode.toString(8)} ${entry.name.replace(/^[0-9a-f-]{36}/, 'ID')}`;
  });
  expect(kept.sort()).toEqual([
    '600 ID.json',
    '600 ID.jsonl',
    '600 chat-history.jsonl',
    '600 sessions.db',
    '600 sessions.db-made',
    '700 sessions',
    '700 undo',
  ]);
});
