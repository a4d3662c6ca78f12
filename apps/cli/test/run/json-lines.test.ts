import { emptyState } from '@cobbler/agent/events';
import { failsWith } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { JsonView } from '../../src/run/output.ts';
import { fakeOutput } from '../support/fake-io.ts';
import { cobbler } from '../support/in-process.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

describe('--json', () => {
  test(
    'prints one event per line: started first, finished last, stored events with sequence numbers',
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

  test('does not repeat a long text: less than three times its bytes', patience, async () => {
    const text = 'A sentence of some length. '.repeat(2000);
    const service = await mockService([says(text)]);
    const end = await cobbler(['--json', 'go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.stdout.length).toBeLessThan(3 * text.length);
    expect(end.stdout.length).toBeGreaterThan(text.length);
  });

  test('also prints text deltas with =deltas', patience, async () => {
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

  test('also reports a failure on standard error', patience, async () => {
    const service = await mockService([failsWith({ kind: 'invalid', message: 'Too many cooks.' })]);
    const end = await cobbler(['--json', 'go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(/^cobbler: 400 from .*Too many cooks/);
    expect(JSON.parse(end.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'finished',
      status: 'failed',
    });
  });

  test('prints a final event that could not be stored as the last line, without seq and id [P13]', () => {
    const out = fakeOutput(false, 80);
    const view = new JsonView(out, false);
    const head = { v: 1, time: '2026-01-01T00:00:00.000Z', runId: 'run' } as const;
    const error = { kind: 'agent', code: 'store', message: 'The event store failed: no room' } as const;
    view.event({ type: 'text_delta', index: 0, text: 'Half' });
    view.event({ ...head, type: 'finished', status: 'failed', error, metrics: emptyState().metrics });
    const [line, ...others] = out.written.map((text) => JSON.parse(text));
    expect(line).toMatchObject({ ...head, type: 'finished', status: 'failed', error });
    expect([others, 'seq' in line, 'id' in line]).toEqual([[], false, false]);
  });
});
