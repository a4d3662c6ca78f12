import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answersStatus, failsWith, plays, scriptAnswer } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { cobbler } from './binary.ts';
import { claudeAt, mockService, says, testKey } from './mock-service.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** What a process must print first, on which stream, and how it must end. */
interface Row {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly code: number;
  readonly stdout?: string | RegExp;
  readonly stderr?: string | RegExp;
}

const key = { ANTHROPIC_API_KEY: testKey };

const rows: readonly Row[] = [
  { name: 'version', args: ['--version'], code: 0, stdout: /^\d+\.\d+\.\d+$/ },
  { name: 'help', args: ['--help'], code: 0, stdout: /^cobbler runs a language model/ },
  { name: 'help of a command', args: ['run', '-h'], code: 0, stdout: 'cobbler run [prompt ...]' },
  { name: 'help by word', args: ['help', 'demo'], code: 0, stdout: 'cobbler demo' },
  {
    name: 'help of nothing',
    args: ['help', 'dmeo'],
    code: 2,
    stderr: 'cobbler: There is no command "dmeo". Did you mean demo?',
  },
  { name: 'no prompt', args: [], code: 2, stderr: /^cobbler: There is no key for Claude/ },
  {
    name: 'no key',
    args: ['hi'],
    code: 2,
    stderr: /^cobbler: There is no key for Claude: ANTHROPIC_API_KEY and COBBLER_AGENT_API_KEY are not set/,
  },
  {
    name: 'no key for OpenAI',
    args: ['-m', 'openai:x', 'hi'],
    code: 2,
    stderr: /^cobbler: There is no key for OpenAI: OPENAI_API_KEY is not set/,
  },
  {
    name: 'empty prompt',
    args: [],
    env: key,
    input: ' \n',
    code: 2,
    stderr: 'cobbler: There is nothing to do: no prompt was given.',
  },
  {
    name: 'unknown option',
    args: ['--modle', 'x'],
    code: 2,
    stderr: 'cobbler: There is no option --modle. Did you mean --model?',
  },
  {
    name: 'unknown command',
    args: ['doctro'],
    code: 2,
    stderr: 'cobbler: There is no command "doctro". Did you mean doctor?',
  },
  {
    name: 'unknown provider',
    args: ['-m', 'cluade:x', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: There is no provider named "cluade". Did you mean claude:x?',
  },
  {
    name: 'value missing',
    args: ['--max-usd'],
    code: 2,
    stderr: "cobbler: Option '--max-usd <amount>' argument missing.",
  },
  {
    name: 'value wrong',
    args: ['--max-turns', '0', 'hi'],
    code: 2,
    stderr: 'cobbler: --max-turns cannot be "0".',
  },
  {
    name: 'modes together',
    args: ['--yes', '--read-only', 'hi'],
    code: 2,
    stderr: 'cobbler: --yes and --read-only exclude each other.',
  },
  {
    name: 'no such folder',
    args: ['-C', '/no/such', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: The folder /no/such does not exist.',
  },
  {
    name: 'file as folder',
    args: ['-C', '/etc/hostname', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: /etc/hostname is not a folder.',
  },
  {
    name: 'no such attachment',
    args: ['-f', '/no/such', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: /no/such does not exist.',
  },
  {
    name: 'no such system text',
    args: ['--system', '@/no/such', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: /no/such does not exist.',
  },
  {
    name: 'output nowhere',
    args: ['-o', '/no/such/file', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: /no/such/file cannot be written: its folder does not exist.',
  },
  {
    name: 'unknown tool',
    args: ['--tools', 'read_fiel', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: There is no tool "read_fiel". Did you mean read_file?',
  },
  {
    name: 'rule for no tool',
    args: ['--allow', 'run_comand(x)', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: --allow "run_comand(x)" names no tool of this run. Did you mean run_command?',
  },
  {
    name: 'rule not closed',
    args: ['--allow', 'run_command(x', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: --allow "run_command(x" is not of the form tool or tool(pattern).',
  },
  {
    name: 'address wrong',
    args: ['--base-url', 'localhost', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: --base-url "localhost" is not an address.',
  },
  {
    name: 'api of another',
    args: ['--api', 'chat', 'hi'],
    env: key,
    code: 2,
    stderr: /^cobbler: --api is for OpenAI/,
  },
  {
    name: 'key with a line break inside',
    args: ['hi'],
    env: { ANTHROPIC_API_KEY: 'sk-\nant' },
    code: 2,
    stderr: /^cobbler: The API key for Claude has a blank/,
  },
  {
    name: 'nobody listens',
    args: ['hi', '--base-url', 'http://127.0.0.1:9'],
    env: key,
    code: 1,
    stderr: /^cobbler · claude-sonnet/,
  },
  { name: 'config', args: ['config'], code: 0, stdout: /^provider +claude +default$/ },
  { name: 'config without a home', args: ['config'], env: { HOME: '' }, code: 0, stdout: /^provider/ },
  {
    name: 'config of nothing',
    args: ['config', 'sett'],
    code: 2,
    stderr: /^cobbler: There is nothing called "sett"/,
  },
  {
    name: 'a key on the command line',
    args: ['config', 'set', 'apiKey', 'x'],
    code: 2,
    stderr: /^cobbler: A key given on the command line stays in the history/,
  },
  {
    name: 'set-key for nobody',
    args: ['config', 'set-key', 'cluade'],
    code: 2,
    stderr: /^cobbler: There is no provider named "cluade". Did you mean claude\?/,
  },
  {
    name: 'set-key with nothing',
    args: ['config', 'set-key', 'claude'],
    input: '\n',
    code: 2,
    stderr: 'cobbler: No key was given; nothing was stored.',
  },
  { name: 'models', args: ['models'], env: key, code: 0, stdout: 'claude  key from ANTHROPIC_API_KEY' },
  { name: 'models of something', args: ['models', 'x'], code: 2, stderr: /^cobbler: Too many arguments/ },
  { name: 'doctor without a key', args: ['doctor'], code: 1, stdout: /^FAIL key +no key for claude$/ },
  { name: 'doctor', args: ['doctor'], env: key, code: 0, stdout: /^ok +node/ },
  {
    name: 'doctor as JSON',
    args: ['doctor', '--json'],
    env: key,
    code: 0,
    stdout: /^\{"ok":true,"checks":\[/,
  },
  { name: 'completion', args: ['completion', 'bash'], code: 0, stdout: '# cobbler completion for bash' },
  {
    name: 'completion of nothing',
    args: ['completion', 'fishh'],
    code: 2,
    stderr: 'cobbler: There is no completion for "fishh". Did you mean fish?',
  },
  {
    name: 'a demo elsewhere',
    args: ['demo', '-C', '/'],
    code: 2,
    stderr: 'cobbler: / holds no demo project, and the demo plays in no other.',
  },
];

const patience = { timeout: 30_000 };

describe.concurrent('exit code and first line', () => {
  test.for(rows)('$name', patience, async ({ args, env, input, code, stdout, stderr }, { expect }) => {
    const end = await cobbler(args, { ...(env && { env }), ...(input !== undefined && { input }) });
    const firstLine = (text: string) => text.split('\n')[0];
    expect(end.code, end.stderr).toBe(code);
    if (stdout === undefined) expect(end.stdout).toBe('');
    else
      expect(firstLine(end.stdout)).toEqual(
        typeof stdout === 'string' ? stdout : expect.stringMatching(stdout),
      );
    if (stderr === undefined) expect(end.stderr).toBe('');
    else
      expect(firstLine(end.stderr)).toEqual(
        typeof stderr === 'string' ? stderr : expect.stringMatching(stderr),
      );
    expect(end.stderr).not.toMatch(/^\s+at .*:\d+:\d+/m);
    expect(end.stdout + end.stderr).not.toContain(testKey);
  });
});

test(
  'no key: four lines say where it was looked for, how to set one, and what works without',
  patience,
  async () => {
    const { stderr } = await cobbler(['hi']);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[1]).toContain('export ANTHROPIC_API_KEY=');
    expect(lines[2]).toContain('cobbler demo');
    expect(lines[3]).toContain('--base-url');
  },
);

test('broken YAML is named with file and line, by every command that reads it', patience, async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'config.yaml'), 'model: best\nmaxTurns: many\n');
  const env = { COBBLER_HOME: home, ANTHROPIC_API_KEY: testKey };
  for (const args of [['hi'], ['config'], ['models']]) {
    const end = await cobbler(args, { env });
    expect(end.code).toBe(2);
    expect(end.stderr.split('\n')[0]).toBe(
      `cobbler: ${home}/config.yaml:2: "maxTurns" must be a whole number.`,
    );
  }
  const doctor = await cobbler(['doctor'], { env });
  expect([doctor.code, doctor.stdout.split('\n')[0]]).toEqual([
    1,
    `FAIL configuration  ${home}/config.yaml:2: "maxTurns" must be a whole number.`,
  ]);
  const demo = await cobbler(['demo'], { env });
  expect(demo.code).toBe(0);
});

describe('a run without a terminal', () => {
  test('the answer goes to standard output, the rest to standard error', patience, async () => {
    const service = await mockService([says('**42**')]);
    const end = await cobbler(['what is the answer?'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end).toMatchObject({ code: 0, stdout: '**42**\n' });
    expect(end.stderr).toMatch(/\ncomplete {2}1 turn · 0 tools · [\d.]+ m?s · 120 in 30 out\n$/);
    expect(end.stdout + end.stderr).not.toContain('\x1b');
  });

  test('P19 key with stray blanks and quotes is cleaned, and never shown', patience, async () => {
    const service = await mockService([says('ok')]);
    const env = { ...claudeAt(service), ANTHROPIC_API_KEY: ` "${testKey}"\n` };
    const end = await cobbler(['-v', 'hi'], { env, cwd: temporaryFolder() });
    expect(end.code).toBe(0);
    expect(service.server.exchanges[0]?.headers.get('authorization')).toBe(`Bearer ${testKey}`);
    expect(end.stdout + end.stderr).not.toContain(testKey);
  });

  test(
    'what needs asking is denied, the run goes on, exit 5 and the option that would allow it',
    patience,
    async () => {
      const service = await mockService([
        says('', ['run_command', { command: 'npm test' }]),
        says('I could not.'),
      ]);
      const end = await cobbler(['test it'], { env: claudeAt(service), cwd: temporaryFolder() });
      expect(end).toMatchObject({ code: 5, stdout: 'I could not.\n' });
      expect(end.stderr).toContain("\n    --allow 'run_command(npm test)'\n");
      const sent = service.server.exchanges[1]?.request?.turns.at(-1)?.parts[0];
      expect(sent).toMatchObject({ type: 'result', isError: true });
    },
  );

  test('the option printed allows it', patience, async () => {
    const service = await mockService([says('', ['run_command', { command: 'echo hi' }]), says('Done.')]);
    const args = ['say hi', '--allow', 'run_command(echo hi)'];
    const end = await cobbler(args, { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(0);
    expect(end.stderr).toMatch(/tool run_command echo hi ok exit 0 .*\n {2}hi\n/);
  });

  test('--edits lets edits through and denies commands', patience, async () => {
    const service = await mockService([
      says('', ['write_file', { path: 'a.txt', content: 'x\n' }], ['run_command', { command: 'echo' }]),
      says('Done.'),
    ]);
    const end = await cobbler(['go', '--edits'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(5);
    expect(end.stderr).toMatch(/tool write_file a\.txt ok/);
    expect(end.stderr).toContain('  1 file changed: a.txt +1 -0');
  });

  test('a limit ends it with 3 and says which', patience, async () => {
    const call = () => says('', ['list_files', {}]);
    const service = await mockService([call(), call(), call()]);
    const end = await cobbler(['go', '--max-turns', '2'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(3);
    expect(end.stderr).toMatch(/\nstopped after 2 turns \(limit --max-turns\) {2}2 turns/);
  });

  test('time over ends it with 124', patience, async () => {
    const service = await mockService([{ type: 'silent' }]);
    const end = await cobbler(['go', '--timeout', '300ms'], {
      env: claudeAt(service),
      cwd: temporaryFolder(),
    });
    expect(end.code).toBe(124);
    expect(end.stderr).toContain('stopped after 0.3 s (limit --timeout)');
  });

  test('a money limit without a known price is refused before anything is asked', patience, async () => {
    const service = await mockService([says('never')]);
    const end = await cobbler(['go', '--max-usd', '1'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('The price of claude-test is unknown, so --max-usd cannot be kept.');
    expect(service.server.exchanges).toHaveLength(0);
  });

  test('a refused key is exit 2, with host, status and the variable it came from', patience, async () => {
    const service = await mockService([failsWith({ type: 'refused_key', message: 'invalid x-api-key' })]);
    const end = await cobbler(['go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(
      `401 from ${new URL(service.url).host}: the key from ANTHROPIC_API_KEY was refused.`,
    );
    expect(end.stdout + end.stderr).not.toContain(testKey);
  });

  test('a proxy’s page is not quoted at length, and the run fails', patience, async () => {
    const service = await mockService([answersStatus(400)]);
    const end = await cobbler(['go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('400 from 127.0.0.1');
  });

  test('an overloaded service is tried again, and said so', patience, async () => {
    const fault = failsWith({ type: 'overloaded', message: 'Overloaded' });
    const service = await mockService([fault, says('after all')]);
    const end = await cobbler(['go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end).toMatchObject({ code: 0, stdout: 'after all\n' });
    expect(end.stderr).toMatch(/529 overloaded, retry 1 of 3 in 0\.\d s/);
  });

  test('an answer that reached its length is exit 1', patience, async () => {
    const service = await mockService([
      plays(scriptAnswer(['half an ans'], { stop: 'max_tokens', model: 'claude-test' })),
    ]);
    const end = await cobbler(['go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end).toMatchObject({ code: 1, stdout: 'half an ans\n' });
    expect(end.stderr).toContain('cut off: the answer reached its length limit');
  });

  test('-q is the answer only', patience, async () => {
    const service = await mockService([says('Looking.', ['list_files', {}]), says('42')]);
    const end = await cobbler(['-q', 'go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end).toEqual({ code: 0, signal: null, stdout: '42\n', stderr: '' });
  });

  test('-o writes the answer into a file as well', patience, async () => {
    const service = await mockService([says('a\tb \x1b[1mbold')]);
    const cwd = temporaryFolder();
    const end = await cobbler(['go', '-o', 'answer.md'], { env: claudeAt(service), cwd });
    expect(end.stdout).toBe('a\tb \\x1b[1mbold\n');
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(join(cwd, 'answer.md'), 'utf8')).toBe('a\tb \x1b[1mbold\n');
  });

  test('pipe and prompt together: the pipe is attached', patience, async () => {
    const service = await mockService([says('ok')]);
    const options = { env: claudeAt(service), cwd: temporaryFolder(), input: 'some diff\n' };
    expect((await cobbler(['review this'], options)).code).toBe(0);
    const texts = service.server.exchanges[0]?.request?.turns[0]?.parts.map(
      (part) => part.type === 'text' && part.text,
    );
    expect(texts).toEqual(['<attachment name="standard input">\nsome diff\n</attachment>', 'review this']);
  });

  test('AGENTS.md is read, unless told otherwise', patience, async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'AGENTS.md'), 'Always answer in rhyme.');
    const service = await mockService([says('ok'), says('ok')]);
    await cobbler(['go'], { env: claudeAt(service), cwd });
    await cobbler(['go', '--no-context-files', '--system', 'Be brief.'], { env: claudeAt(service), cwd });
    const [first, second] = service.server.exchanges.map((exchange) => exchange.request?.system ?? '');
    expect(first).toContain('Always answer in rhyme.');
    expect(second).not.toContain('rhyme');
    expect(second).toMatch(/^Be brief\./);
  });

  test('--tools none offers none', patience, async () => {
    const service = await mockService([says('ok')]);
    await cobbler(['go', '--tools', 'none'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(service.server.exchanges[0]?.request?.tools).toEqual([]);
  });
});

describe('--json', () => {
  test(
    'is one event per line: started first, finished last, every stored one with its place',
    patience,
    async () => {
      const service = await mockService([says('Looking.', ['list_files', {}]), says('42')]);
      const end = await cobbler(['--json', 'go'], { env: claudeAt(service), cwd: temporaryFolder() });
      expect([end.code, end.stderr]).toEqual([0, '']);
      const events = end.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(events.map((event) => event.type)).toEqual([
        'started',
        'user',
        'assistant',
        'tool_started',
        'tool_result',
        'assistant',
        'finished',
      ]);
      expect(events[0]).toMatchObject({ v: 1, sessionId: expect.any(String), runId: expect.any(String) });
      expect(events.slice(1).map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(events.every((event) => event.v === 1)).toBe(true);
      expect(events.at(-1)).toMatchObject({
        status: 'complete',
        metrics: { totalInputTokens: 240, invocations: 2 },
      });
    },
  );

  test('does not repeat a long text: at most three times its bytes', patience, async () => {
    const text = 'A sentence of some length. '.repeat(2000);
    const service = await mockService([says(text)]);
    const end = await cobbler(['--json', 'go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.stdout.length).toBeLessThan(3 * text.length);
    expect(end.stdout.length).toBeGreaterThan(text.length);
  });

  test('with =deltas the text comes in pieces too', patience, async () => {
    const service = await mockService([says('one two three four')]);
    const end = await cobbler(['--json=deltas', 'go'], { env: claudeAt(service), cwd: temporaryFolder() });
    const events = end.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const deltas = events.filter((event) => event.type === 'text_delta');
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.map((event) => event.text).join('')).toBe('one two three four');
  });

  test('a failure is told to people too', patience, async () => {
    const service = await mockService([failsWith({ type: 'invalid', message: 'Too many cooks.' })]);
    const end = await cobbler(['--json', 'go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(/^cobbler: 400 from .*Too many cooks/);
    expect(JSON.parse(end.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'finished',
      status: 'failed',
    });
  });
});

test('nothing is written outside the folder and the home: a run leaves no file', patience, async () => {
  const [cwd, home] = [temporaryFolder(), join(temporaryFolder(), 'home')];
  mkdirSync(home);
  const service = await mockService([says('ok')]);
  await cobbler(['go'], { env: { ...claudeAt(service), HOME: home, TMPDIR: home }, cwd });
  const { readdirSync } = await import('node:fs');
  expect([readdirSync(cwd), readdirSync(home)]).toEqual([[], []]);
});
