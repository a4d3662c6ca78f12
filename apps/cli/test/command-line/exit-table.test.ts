import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cobbler } from '../support/in-process.ts';
import { testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A command line with its expected exit code and first output line on each stream. */
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
  { name: 'help', args: ['--help'], code: 0, stdout: /^cobbler lets a language model/ },
  { name: 'help for a command', args: ['run', '-h'], code: 0, stdout: 'cobbler run [prompt ...]' },
  { name: 'help command', args: ['help', 'demo'], code: 0, stdout: 'cobbler demo' },
  {
    name: 'help for an unknown command',
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
    stderr: 'cobbler: The prompt is missing.',
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
    stderr: 'cobbler: Unknown provider "cluade". Did you mean claude:x?',
  },
  {
    name: 'missing value',
    args: ['--max-usd'],
    code: 2,
    stderr: "cobbler: Option '--max-usd <amount>' argument missing.",
  },
  {
    name: 'invalid value',
    args: ['--max-turns', '0', 'hi'],
    code: 2,
    stderr: 'cobbler: --max-turns cannot be "0".',
  },
  {
    name: 'conflicting modes',
    args: ['--yes', '--read-only', 'hi'],
    code: 2,
    stderr: 'cobbler: --yes and --read-only cannot be used together.',
  },
  {
    name: 'directory not found',
    args: ['-C', '/no/such', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: The directory /no/such does not exist.',
  },
  {
    name: 'file instead of a directory',
    args: ['-C', '/etc/hostname', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: /etc/hostname is not a directory.',
  },
  {
    name: 'attachment not found',
    args: ['-f', '/no/such', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: /no/such does not exist.',
  },
  {
    name: 'system prompt file not found',
    args: ['--system', '@/no/such', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: /no/such does not exist.',
  },
  {
    name: 'output in a missing directory',
    args: ['-o', '/no/such/file', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: Cannot write /no/such/file: its directory does not exist.',
  },
  {
    name: 'unknown tool',
    args: ['--tools', 'read_fiel', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: Unknown tool "read_fiel". Did you mean read_file?',
  },
  {
    name: 'rule for an unknown tool',
    args: ['--allow', 'run_comand(x)', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: --allow "run_comand(x)" matches no tool in this run. Did you mean run_command?',
  },
  {
    name: 'rule for commands with a star',
    args: ['--allow', 'run_command(npm *)', 'hi'],
    env: key,
    code: 2,
    stderr:
      'cobbler: --allow "run_command(npm *)" allows nothing: a rule must name a command with all its arguments, or the host of a web page.',
  },
  {
    name: 'rule without a closing parenthesis',
    args: ['--allow', 'run_command(x', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: --allow "run_command(x" does not have the form "tool" or "tool(pattern)".',
  },
  {
    name: 'invalid base URL',
    args: ['--base-url', 'localhost', 'hi'],
    env: key,
    code: 2,
    stderr: 'cobbler: --base-url "localhost" is not an http or https URL.',
  },
  {
    name: 'api for another provider',
    args: ['--api', 'chat', 'hi'],
    env: key,
    code: 2,
    stderr: /^cobbler: --api requires the provider openai/,
  },
  {
    name: 'key that contains a line break',
    args: ['hi'],
    env: { ANTHROPIC_API_KEY: 'sk-\nant' },
    code: 2,
    stderr: /^cobbler: The API key for Claude contains a space/,
  },
  {
    name: 'no server at the base URL',
    args: ['hi', '--base-url', 'http://127.0.0.1:9', '--retry-for', 'never'],
    env: key,
    code: 1,
    stderr: /^cobbler · claude-sonnet(?![\s\S]*retry)/,
  },
  { name: 'config', args: ['config'], code: 0, stdout: /^provider +claude +default$/ },
  { name: 'config without a home', args: ['config'], env: { HOME: '' }, code: 0, stdout: /^provider/ },
  {
    name: 'unknown config action',
    args: ['config', 'sett'],
    code: 2,
    stderr: /^cobbler: config has no action "sett"/,
  },
  {
    name: 'key on the command line',
    args: ['config', 'set', 'apiKey', 'x'],
    code: 2,
    stderr: /^cobbler: A key on the command line would stay in the shell history/,
  },
  {
    name: 'set-key for an unknown provider',
    args: ['config', 'set-key', 'cluade'],
    code: 2,
    stderr: /^cobbler: Unknown provider "cluade". Did you mean claude\?/,
  },
  {
    name: 'set-key with empty input',
    args: ['config', 'set-key', 'claude'],
    input: '\n',
    code: 2,
    stderr: 'cobbler: No key was entered. Nothing was stored.',
  },
  { name: 'models', args: ['models'], env: key, code: 0, stdout: 'claude  key from ANTHROPIC_API_KEY' },
  { name: 'models with an argument', args: ['models', 'x'], code: 2, stderr: /^cobbler: Too many arguments/ },
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
    name: 'completion for an unknown shell',
    args: ['completion', 'fishh'],
    code: 2,
    stderr: 'cobbler: There is no shell completion for "fishh". Did you mean fish?',
  },
  {
    name: 'demo in a directory without a demo project',
    args: ['demo', '-C', '/'],
    code: 2,
    stderr: 'cobbler: / does not contain a demo project.',
  },
];

const patience = { timeout: 120_000 };

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
  'explains a missing key in four lines: the variables, how to set one, the demo and --base-url',
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

test('names file and line of an invalid setting in every command that reads it', patience, async () => {
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
