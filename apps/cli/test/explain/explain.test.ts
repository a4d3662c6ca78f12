import { AgentError } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../src/command-line/parse.ts';
import { completion } from '../../src/commands/completion.ts';
import { explain } from '../../src/commands/explain.ts';
import { codes } from '../../src/explain/catalogue.ts';
import { failureOf } from '../../src/view/failure.ts';
import { fakeIo } from '../support/fake-io.ts';

function printed(
  code?: string,
  options: Record<string, unknown> = {},
  env: Record<string, string> = {},
): string {
  const io = { ...fakeIo(), env };
  expect(explain(code === undefined ? [] : [code], options, io)).toBe(0);
  return io.stdout.text();
}

describe('cobbler explain', () => {
  test('shows the cause, the solution and the documentation page', () => {
    const text = printed('no_key');
    expect(text).toMatch(/^no_key {2}\(invalid\)\n/);
    expect(text).toContain('There is no API key for the service.');
    expect(text).toContain('`cobbler config set-key PROVIDER`');
    expect(text).toMatch(/See docs\/first-agent\.md\n$/);
  });

  test('uses the command name that its caller sets', () => {
    expect(printed('no_key', {}, { COBBLER_COMMAND: 'npm start --' })).toContain('`npm start -- demo`');
  });

  test.each(['NO_KEY', 'no-key', '[no_key]', 'toolcalls'])(
    'accepts a code in another notation: %s',
    (code) => {
      expect(printed(code)).toMatch(/^(no_key|toolCalls) /);
    },
  );

  test('lists all codes without an argument', () => {
    const words = new Set(printed().split(/\s+/));
    expect(codes.filter((code) => !words.has(code))).toEqual([]);
  });

  test('prints the same as JSON with --json', () => {
    expect(JSON.parse(printed('busy', { json: true }))).toMatchObject({ code: 'busy', status: [409] });
    expect(JSON.parse(printed(undefined, { json: true }))).toHaveLength(12);
  });

  test('suggests cobbler run if the arguments are not a code', () => {
    const { command, operands, options } = parseCommandLine(['explain', 'this', 'project']);
    expect(command).toBe('explain');
    const prompt = 'If it is a prompt: cobbler run explain this project';
    const refused = expect.objectContaining({ advice: expect.arrayContaining([prompt]) });
    expect(() => explain(operands, options, { ...fakeIo(), env: {} })).toThrow(refused);
  });

  test('suggests the nearest codes for an unknown one', () => {
    const io = fakeIo();
    expect(() => explain(['no_kye'], {}, io)).toThrow(/Did you mean no_key\?/);
    expect(() => explain(['webhook_adress'], {}, io)).toThrow(/webhook_url/);
    expect(() => explain(['xyzzy'], {}, io)).toThrow(/^There is no error code "xyzzy"\.$/);
  });

  test('provides its codes to shell completion', () => {
    const io = fakeIo();
    completion('bash', io);
    expect(io.stdout.text()).toMatch(/ explain\) words="--json usage config agent_folder no_key /);
  });
});

test('a failure shows the explain command only if it gets a command name', () => {
  const error = new AgentError({ kind: 'rate_limit', code: 'rate_limited', message: 'Slower.', status: 429 });
  const context = { host: 'api.example', model: 'm', provider: 'p', verbose: false };
  expect(failureOf(error, { ...context, name: 'cobbler' }).advice.at(-1)).toBe(
    'More: cobbler explain rate_limited',
  );
  expect(failureOf(error, context).advice.join()).not.toContain('explain');
});
