import type { AssistantPart, Source } from '@cobbler/agent';
import { Executor } from '@cobbler/agent';
import { hasSearched, searchNotes } from '@cobbler/agent/events';
import { calls, scriptedModel, textResponse } from '@cobbler/agent/testing';
import { expect, test } from 'vitest';

function part(shown: Partial<AssistantPart & { type: 'opaque' }>): AssistantPart {
  return { type: 'opaque', seal: { provider: 'claude', data: {} }, ...shown };
}

function cited(...sources: Source[]): AssistantPart {
  return part({ sources });
}

test('lists searches, failures, and each cited page once', () => {
  const parts = [
    part({ searched: 'weather' }),
    part({ problem: 'unavailable' }),
    part({}),
    { type: 'text', text: 'It rains.' },
    cited({ url: 'https://a.example', title: 'A' }, { url: 'https://a.example/' }),
    cited({ url: 'http://b.example/x' }),
  ] as const;
  expect(searchNotes(parts)).toEqual({
    lines: ['searched: weather', 'search failed: unavailable'],
    sources: [{ url: 'https://a.example/', title: 'A' }, { url: 'http://b.example/x' }],
  });
});

test('lists only pages with an http or https address, with the host as in DNS', () => {
  const urls = [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'a.example',
    'https://аpple.example',
  ];
  const { sources } = searchNotes([cited(...urls.map((url) => ({ url })))]);
  expect(sources).toEqual([{ url: 'https://xn--pple-43d.example/' }]);
});

test('only a search counts as one', () => {
  expect(hasSearched([part({ searched: '' })])).toBe(true);
  expect(
    hasSearched([part({}), cited({ url: 'https://a.example' }), { type: 'text', text: 'searched' }]),
  ).toBe(false);
});

test('the result of a sub-agent whose model has searched is untrusted', async () => {
  const results: unknown[] = [];
  for (const searched of [undefined, 'news']) {
    const answer = textResponse('Rain.');
    const content = [part(searched === undefined ? {} : { searched }), ...answer.message.content];
    const inner = scriptedModel([{ ...answer, message: { role: 'assistant', content } }]);
    const tool = new Executor({ agent: inner }).asTool({ name: 'look', description: 'Looks.' });
    const agent = scriptedModel([
      calls([{ name: 'look', arguments: { prompt: 'Look.' } }]),
      textResponse('Done.'),
    ]);
    await new Executor({ agent, tools: [tool] }).run('What is new?', {
      onEvent: (event) => {
        if (event.type === 'tool_result') results.push([event.untrusted, event.content]);
      },
    });
  }
  const content = [{ type: 'text', text: 'Rain.' }];
  expect(results).toEqual([
    [undefined, content],
    [true, content],
  ]);
});
