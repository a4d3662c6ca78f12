import { memoryStore, textOf } from '@cobbler/agent';
import { claudeCode, codex, delegatedHarness } from '@cobbler/delegate';
import { describe, expect, it } from 'vitest';
import { fakePrograms } from './rig.ts';

const tools = ['look', 'write', 'break', 'hold'];

describe('a conversation with Claude Code', () => {
  it('continues after a restart with the id stored in the log', async () => {
    const { workspace, options } = fakePrograms();
    const store = memoryStore();
    const open = () =>
      delegatedHarness({ backend: claudeCode(options), workingDir: workspace, store, sessionId: 's' });
    const first = open();
    const one = await first.prompt('say One.').result;
    await first.close();
    const second = open();
    const two = await second.prompt('count').result;
    await second.close();
    expect(two.text).toBe('2');
    expect([one.metrics.usd, two.metrics.usd].map((usd) => usd?.toFixed(4))).toEqual(['0.0010', '0.0010']);
  });

  it('continues after a crash during a call without repeating the call [P9]', async () => {
    const { workspace, options } = fakePrograms();
    const open = (store: ReturnType<typeof memoryStore>) =>
      delegatedHarness({ backend: claudeCode(options), workingDir: workspace, store, sessionId: 's', tools });
    const [before, after] = [memoryStore(), memoryStore()];
    const first = open(before);
    for await (const event of first.prompt('use hold')) if (event.type === 'tool_started') break;
    const events = [...(await before.read('s'))];
    await first.close();
    await after.append('s', events, { epoch: await after.claim('s') });
    const second = open(after);
    const result = await second.resume().result;
    expect([result.status, result.text]).toEqual(['complete', 'There is no Continue.']);
    expect(JSON.stringify(result.messages)).toContain('unknown');
    await second.close();
  });

  it('has the cost that the program reports, once for the whole run [P14]', async () => {
    const { workspace, options } = fakePrograms();
    const harness = delegatedHarness({ backend: claudeCode(options), workingDir: workspace, tools });
    const { metrics } = await harness.prompt('use look write').result;
    expect(metrics.usd).toBeCloseTo(0.002, 9);
    expect([metrics.invocations, metrics.toolCalls]).toEqual([2, 2]);
    await harness.close();
  });

  it('emits a retry if the conversation is lost, and returns the text of one attempt only [P8]', async () => {
    const { workspace, options, home } = fakePrograms();
    const store = memoryStore();
    const harness = delegatedHarness({ backend: claudeCode(options), workingDir: workspace, store });
    await harness.prompt('say One.').result;
    const { readdirSync, rmSync } = await import('node:fs');
    for (const file of readdirSync(home)) rmSync(`${home}/${file}`);
    const run = harness.prompt('count');
    const retries: string[] = [];
    for await (const event of run) if (event.type === 'retry') retries.push(event.error.code ?? '');
    expect([retries, (await run).text]).toEqual([['stale_session'], '1']);
    await harness.close();
  });

  it('calls its gate for each call and never runs a denied call', async () => {
    const { workspace, options } = fakePrograms();
    const harness = delegatedHarness({
      backend: claudeCode({ ...options, permission: 'gate' }),
      workingDir: workspace,
      tools,
      gate: ({ toolName }) =>
        toolName === 'write' ? { type: 'deny', message: 'Not today.' } : { type: 'allow' },
    });
    const result = await harness.prompt('use look write').result;
    const results = result.messages.filter(({ role }) => role === 'tool_result');
    expect(JSON.stringify(results)).toContain('Not today.');
    expect([result.status, result.text, result.metrics.toolCalls]).toEqual(['complete', 'seen, refused', 1]);
    await harness.close();
  });

  it('denies a call of the Codex app server through the gate [P20]', async () => {
    const { workspace, options } = fakePrograms();
    const harness = delegatedHarness({
      backend: codex({ ...options, permission: 'gate' }),
      workingDir: workspace,
      gate: ({ subject }) =>
        subject === 'write' ? { type: 'deny', message: 'Not today.' } : { type: 'allow' },
    });
    expect((await harness.prompt('use look write').result).text).toBe('seen, refused');
    await harness.close();
  });

  it('returns only the text of the successful attempt [P8]', async () => {
    const { workspace, options } = fakePrograms();
    const harness = delegatedHarness({ backend: claudeCode(options), workingDir: workspace });
    const run = harness.prompt('fault speaks-and-dies-once');
    const told: string[] = [];
    for await (const event of run) if (event.type === 'text' || event.type === 'retry') told.push(event.type);
    const { text, metrics } = await run;
    expect([told, text, metrics.attempts]).toEqual([['text', 'retry', 'text'], 'Well again.', 2]);
    await harness.close();
  });

  it.each([
    [
      'differs from the streamed text',
      'other-result',
      'The final answer.',
      ['Thinking aloud.', 'The final answer.'],
    ],
    ['is empty', 'empty-result', 'The answer.', ['The answer.']],
  ])('keeps its streamed text and a result that %s [P1]', async (_what, fault, text, texts) => {
    const { workspace, options } = fakePrograms();
    const harness = delegatedHarness({ backend: claudeCode(options), workingDir: workspace });
    const result = await harness.prompt(`fault ${fault}`).result;
    const answers = result.messages.filter(({ role }) => role === 'assistant');
    expect([result.status, result.text, answers.map(textOf)]).toEqual(['complete', text, texts]);
    await harness.close();
    const run = await claudeCode(options).run({ prompt: `fault ${fault}`, workingDir: workspace });
    expect([run.status, run.output]).toEqual(['completed', text]);
  });

  it('asks an attached user and continues in the same run', async () => {
    const { workspace, options } = fakePrograms();
    const harness = delegatedHarness({
      backend: claudeCode({ ...options, permission: 'gate' }),
      workingDir: workspace,
      tools,
      attended: true,
      gate: () => ({ type: 'ask' }),
    });
    const run = harness.prompt('use write');
    run.subscribe((event) => {
      if (event.type === 'approval_requested') run.decide(event.approvalId, { decision: 'allow' });
    });
    expect((await run).text).toBe('written');
    await harness.close();
  });

  it('rejects a gate that would never be called', () => {
    const { workspace, options } = fakePrograms();
    const make = () =>
      delegatedHarness({
        backend: claudeCode(options),
        workingDir: workspace,
        gate: () => ({ type: 'ask' }),
      });
    expect(make).toThrow(/Create it with permission "gate"/);
  });

  it('passes a money limit to Claude Code, and rejects it for Codex, whose cost is unknown', async () => {
    const { workspace, options } = fakePrograms();
    const limits = { usd: 0.5 };
    const claude = delegatedHarness({ backend: claudeCode(options), workingDir: workspace, limits });
    expect((await claude.prompt('argv').result).text).toContain('"--max-budget-usd","0.5"');
    const other = delegatedHarness({ backend: codex(options), workingDir: workspace, limits });
    expect((await other.prompt('argv').result).error?.code).toBe('unpriced');
    await Promise.all([claude.close(), other.close()]);
  });

  it('accepts only text and cannot be forked', async () => {
    const { workspace, options } = fakePrograms();
    const harness = delegatedHarness({ backend: claudeCode(options), workingDir: workspace });
    const picture = { type: 'file', mediaType: 'image/png', data: 'aGk=' } as const;
    expect((await harness.prompt([picture]).result).error).toMatchObject({ kind: 'invalid', code: 'media' });
    await expect(harness.fork()).rejects.toMatchObject({ code: 'no_fork' });
    await harness.close();
  });
});
