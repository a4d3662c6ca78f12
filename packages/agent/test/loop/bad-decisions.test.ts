import { expect, test } from 'vitest';
import { defineTool } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { exportSession, importSession } from '../../src/store/session-file.ts';
import { scriptedAgent } from '../../src/testing/index.ts';

test('after an invalid decision, the session can still be exported and imported [P21]', async () => {
  const store = memoryStore();
  const tool = defineTool({
    name: 'write',
    description: 'Writes.',
    parameters: { type: 'object' },
    execute: () => 'done',
  });
  const agent = scriptedAgent([{ calls: [{ name: 'write', arguments: {} }] }, 'Done.']);
  const executor = new Executor({ agent, tools: [tool], store, gate: () => ({ type: 'ask' }) });
  await executor.run('Go.', { sessionId: 'one' });
  const [asked] = (await store.read('one')).filter((event) => event.type === 'approval_requested');
  const answer = { approvalId: asked?.approvalId ?? '', decision: 'maybe' } as unknown as {
    approvalId: string;
    decision: 'deny';
  };
  expect(() => executor.resume('one', { answers: [answer] })).toThrow(
    'answers[0].decision is invalid: it is "maybe"',
  );
  const lines = await Array.fromAsync(exportSession(store, 'one'));
  await importSession(memoryStore(), lines, 'again');
  const end = await executor.resume('one', { answers: [{ ...answer, decision: 'deny' }] });
  expect(end.status).toBe('complete');
});
