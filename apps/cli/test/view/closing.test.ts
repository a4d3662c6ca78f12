import type { RunResult } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import { allowOptions } from '../../src/permissions/permission-rule.ts';
import { exitCodeOf } from '../../src/run/task.ts';
import { styleFor } from '../../src/terminal/style.ts';
import type { FinishedTask } from '../../src/view/closing.ts';
import { closingLines } from '../../src/view/closing.ts';

const style = styleFor({ color: false, unicode: true, tty: true });

const metrics: RunResult['metrics'] = {
  totalInputTokens: 9100,
  totalOutputTokens: 310,
  invocations: 4,
  cacheReadTokens: 6552,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  attempts: 4,
  toolCalls: 4,
  wasted: { inputTokens: 0, outputTokens: 0 },
  usd: 0.0123,
  durationMs: 12_400,
  modelMs: 0,
  toolMs: 0,
  waitedMs: 0,
};

function finished(result: Partial<RunResult>, rest: Partial<FinishedTask['task']> = {}): FinishedTask {
  return {
    result: { status: 'complete', metrics, text: '', messages: [], ...result } as RunResult,
    task: {
      form: 'people',
      verbose: false,
      limits: { turns: 100 },
      failure: {
        host: 'api.anthropic.com',
        model: 'claude-x',
        provider: 'claude',
        keySource: 'ANTHROPIC_API_KEY',
      },
      permission: { undecided: [], missingOptions: [] },
      ...rest,
    },
    calls: { changes: new Map() },
  };
}

describe('the closing lines of a run', () => {
  test('show status, turns, tools, time, tokens and cost on one line, then the changed files', () => {
    const run = { ...finished({}), calls: { changes: new Map([['sum.js', { added: 1, removed: 1 }]]) } };
    expect(closingLines(run, style, 80)).toEqual([
      '',
      '✓ complete  4 turns · 4 tools · 12.4 s · 9.1k in (72% cached) 310 out · $0.012',
      '  1 file changed: sum.js +1 -1',
    ]);
  });

  test('fit a narrow terminal', () => {
    expect(closingLines(finished({}), style, 40)).toEqual([
      '',
      '✓ complete  4 turns · 4 tools · 12.4 s',
      '  9.1k in (72% cached) 310 out · $0.012',
    ]);
  });

  test('show no cost for an unknown price', () => {
    const { usd: _, ...unpriced } = metrics;
    expect(closingLines(finished({ metrics: unpriced }), style, 80)[1]).not.toContain('$');
  });

  test.each([
    ['turns', { turns: 4 }, '■ stopped after 4 turns (--max-turns limit)  4 turns'],
    ['usd', { turns: 9, usd: 0.5 }, '■ stopped at $0.012 of $0.500 (--max-usd limit)  4 turns'],
    ['tokens', { turns: 9, tokens: 9000 }, '■ stopped at 9.4k of 9k tokens (--max-tokens limit)  4 turns'],
  ] as const)('name the limit on %s with its option', (limit, limits, headline) => {
    const lines = closingLines(finished({ status: 'limit', limit }, { limits }), style, 120);
    expect(lines[1]).toContain(headline);
    expect(lines[2]).toContain('To continue, raise --max-');
  });

  test('show host and status of a rejected key, and what to do', () => {
    const error = new AgentError({
      kind: 'auth',
      status: 401,
      message: '{"type":"error"}',
      requestId: 'req_1',
    });
    const lines = closingLines(finished({ status: 'failed', error }), style, 120);
    expect(lines.slice(2)).toEqual([
      '  401 from api.anthropic.com: the key from ANTHROPIC_API_KEY was rejected.',
      '  Set a new one with cobbler config set-key claude, or check the setup: cobbler doctor',
    ]);
  });

  test('show the request id in verbose mode', () => {
    const error = new AgentError({ kind: 'agent', status: 500, message: 'Overheated.', requestId: 'req_1' });
    const lines = closingLines(finished({ status: 'failed', error }, { verbose: true }), style, 120);
    expect(lines).toContain('  500 from api.anthropic.com: Overheated.');
    expect(lines).toContain('  Request id: req_1');
  });

  test.each(['{"error":{"message":"x"}}', '<html>Bad gateway</html>'])(
    'do not quote a body such as %s',
    (message) => {
      const error = new AgentError({ kind: 'agent', status: 502, message });
      expect(closingLines(finished({ status: 'failed', error }), style, 120).join('\n')).not.toMatch(/[{<]/);
    },
  );

  test('show the options that allow the calls that were denied without a user to ask', () => {
    const call = { id: '1', arguments: {}, effect: 'once' } as const;
    const unasked = [
      { ...call, toolName: 'run_command', subject: "echo 'h i'" },
      { ...call, toolName: 'run_command', subject: "echo 'h i'" },
      { ...call, toolName: 'run_command', subject: 'rm *.log' },
    ];
    const lines = closingLines(
      finished(
        {},
        { permission: { undecided: unasked, missingOptions: allowOptions(unasked, () => undefined) } },
      ),
      style,
      40,
    );
    expect(lines).toContain("    --allow 'run_command(echo '\\''h i'\\'')'");
    expect(lines).toContain('    --yes');
    expect(lines.filter((line) => line.includes('--allow'))).toHaveLength(1);
  });

  test('promise no option where none would have allowed a call', () => {
    const call = { id: '1', toolName: 'web_fetch', subject: 'https://a.example/', effect: 'once' } as const;
    const permission = { undecided: [{ ...call, arguments: {} }], missingOptions: [] };
    const text = closingLines(finished({}, { permission }), style, 120).join('\n');
    expect(text).toMatch(/1 call denied, because there is no terminal for approvals\.$/m);
  });

  test('show only errors for quiet and JSON output', () => {
    expect(closingLines(finished({}, { form: 'quiet' }), style, 80)).toEqual([]);
    const error = new AgentError({ kind: 'network', message: 'ECONNREFUSED' });
    const lines = closingLines(finished({ status: 'failed', error }, { form: 'json' }), style, 80);
    expect(lines[0]).toBe('cobbler: The connection to api.anthropic.com broke: ECONNREFUSED');
  });
});

test.each([
  ['complete', undefined, false, 0],
  ['complete', undefined, true, 5],
  ['max_tokens', undefined, false, 1],
  ['refusal', undefined, false, 1],
  ['limit', 'limit', false, 3],
  ['timeout', 'timeout', false, 124],
  ['cancelled', 'aborted', false, 130],
  ['waiting', undefined, false, 5],
  ['failed', 'network', false, 1],
  ['failed', 'agent', false, 1],
  ['failed', 'invalid', false, 2],
  ['failed', 'auth', false, 2],
] as const)('status %s with error %s, unasked %s: exit code %i', (status, kind, unasked, code) => {
  expect(exitCodeOf({ status, ...(kind !== undefined && { error: { kind } }) }, unasked)).toBe(code);
});
