import { defineTool } from '@cobbler/agent';
import { describe, expect, it } from 'vitest';
import type { AuditEntry, AuditOptions } from '../src/audit.ts';
import { auditOf } from '../src/audit.ts';
import type { Stage } from './support/stage.ts';
import { eventually, stage } from './support/stage.ts';

const note = defineTool({
  name: 'note',
  description: 'Notes something.',
  parameters: { type: 'object' },
  effect: 'once',
  execute: ({ text }) => {
    if (text === 'broken') throw new Error('no paper');
    return 'noted';
  },
});

const call = (text: string) => ({ calls: [{ name: 'note', arguments: { text } }] });

async function audited({ options }: Stage, rest: AuditOptions = {}): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of auditOf(options.turns, { tools: [note], ...rest })) entries.push(entry);
  return entries;
}

/** Sends a message, taps a button of the resulting question and waits for the run to end. */
async function decided({ say, tap, channel, runner }: Stage, button: number): Promise<void> {
  const run = await say('Note it.');
  const question = await eventually(() =>
    channel.messages.slice(-1).find(({ buttons }) => buttons.length === 2),
  );
  await tap(question.buttons[button]?.data ?? '');
  await runner.result(run);
}

describe('the audit [S3]', () => {
  it('lists model requests and tool calls with the deciding user, but no message text', async () => {
    const asked = stage([call('milk'), 'Noted.', call('milk'), 'Not noted.'], { tools: [note] });
    await decided(asked, 0);
    await decided(asked, 1);
    const entries = await audited(asked);
    expect(entries.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'model tool_use',
      'tool done',
      'model complete',
      'model tool_use',
      'tool denied',
      'model complete',
    ]);
    expect(entries[0]).toMatchObject({ chatId: '7', runId: 'memory-1', inputTokens: 120, outputTokens: 30 });
    expect(entries[0]).not.toHaveProperty('usd');
    expect(entries[1]).toMatchObject({ tool: 'note', effect: 'once', decision: 'allow', decidedBy: '7' });
    expect(entries[4]).toMatchObject({ tool: 'note', decision: 'deny', decidedBy: '7' });
    expect(JSON.stringify(entries)).not.toContain('milk');
  });

  it('prices model requests by the pricing option', async () => {
    const asked = stage(['Hello.']);
    await asked.ask('Hello.');
    const pricing = () => ({ input: 10, output: 100 });
    expect(await audited(asked, { pricing })).toMatchObject([{ usd: (120 * 10 + 30 * 100) / 1_000_000 }]);
  });

  it('lists failed model requests and failed tool calls', async () => {
    const error = { kind: 'agent', message: 'status 500' } as const;
    const asked = stage([call('broken'), { error }], { tools: [note], gate: () => ({ type: 'allow' }) });
    await asked.ask('Note it.');
    const entries = await audited(asked);
    expect(entries.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'model tool_use',
      'tool failed',
      'model failed',
    ]);
    expect(entries[1]).not.toHaveProperty('decidedBy');
    expect(entries[2]).toMatchObject({ error: 'agent' });
  });

  it('can be limited to one chat and to a start time', async () => {
    const asked = stage(['Hello.']);
    await asked.ask('Hello.');
    expect(await audited(asked, { chatId: '7' })).toHaveLength(1);
    expect(await audited(asked, { chatId: '8' })).toEqual([]);
    expect(await audited(asked, { since: Date.now() + 60_000 })).toEqual([]);
  });
});
