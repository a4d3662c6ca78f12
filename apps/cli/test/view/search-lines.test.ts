import type { AssistantPart, RunEvent } from '@cobbler/agent';
import { expect, test } from 'vitest';
import { createOutput } from '../../src/run/output.ts';
import { fakeIo } from '../support/fake-io.ts';

const seal = { provider: 'p', data: {} };
const content: readonly AssistantPart[] = [
  { type: 'opaque', seal, searched: 'rain\u001b[2J\nnow' },
  { type: 'opaque', seal, problem: 'unavailable' },
  { type: 'text', text: 'It rains.' },
  {
    type: 'opaque',
    seal,
    sources: [{ url: 'https://a.example/', title: 'A\u001b[2J' }, { url: 'javascript:x' }],
  },
];
const event: RunEvent = {
  ...{ v: 1, seq: 1, id: 'i', time: '', runId: 'r', type: 'assistant', content, stopReason: 'complete' },
  ...{ usage: { inputTokens: 100, outputTokens: 20 }, wasted: { inputTokens: 0, outputTokens: 0 } },
  ...{ provider: 'p', model: 'm', attempts: 1, durationMs: 1 },
};

test.each(['people', 'quiet'] as const)('shows searches and numbered sources, unless quiet: %s', (form) => {
  const io = fakeIo();
  const { view } = createOutput({ form, verbose: false, model: 'm', tools: [], header: ['cobbler'] }, io);
  view.event(event);
  view.end(undefined);
  const text = io.all.join('');
  const lines = ['searched: rain', 'search failed: unavailable', '1. A', 'https://a.example/'];
  expect(lines.map((line) => text.includes(line))).toEqual(lines.map(() => form === 'people'));
  expect(text.includes('\u001b[2J') || text.includes('javascript')).toBe(false);
});
