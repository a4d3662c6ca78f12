import { describe, expect, test } from 'vitest';
import type { AgentEvent, StopReason } from '../../src/interfaces/agent.ts';
import { Assembly } from '../../src/provider/response/assembler.ts';
import type { SeededRandom } from '../../src/testing/service/seeded-random.ts';
import { seededRandom } from '../../src/testing/service/seeded-random.ts';
import { AgentError } from '../../src/values/errors.ts';
import { firstAttempt } from '../support/assembled.ts';
import type { Answer, Exchange } from '../support/fake-server.ts';
import { refuses } from '../support/fake-server.ts';
import { frame } from '../support/plain-wire.ts';
import { hurry, rig, settle } from '../support/provider-rig.ts';

const stops: StopReason[] = ['complete', 'tool_use', 'max_tokens', 'refusal', 'unknown'];

/** Calls any method in any order, like the wire of an unpredictable service. */
function babble(random: SeededRandom, assembly: Assembly): void {
  const at = random.pick([0, 'a', 'b', 'c', 'd']);
  const word = random.pick(['', 'x', 'yes \ud83d', '\ude00', '{"a":', '1}', '€']);
  const doings: (() => void)[] = [
    () => assembly.text(at, word),
    () => assembly.reasoning(at, word),
    () => assembly.call(at, random.pick(['', 'c1', 'c2']), random.pick(['', 'look'])),
    () => assembly.input(at, word),
    () => assembly.seal(at, word),
    () => assembly.close(at),
    () => assembly.usage({ outputTokens: random.between(0, 9) }),
    () => assembly.stop(random.pick(stops)),
    () => assembly.model(word),
  ];
  random.pick(doings)();
}

describe('any calls of a wire in any order', () => {
  test.each(Array.from({ length: 40 }, (_, index) => index * 50))('seeds from %i', (first) => {
    let read = 0;
    for (let seed = first; seed < first + 50; seed += 1) {
      const random = seededRandom(seed);
      const events: AgentEvent[] = [];
      const assembly = new Assembly({ provider: 'plain' }, (event) => events.push(event));
      for (let count = random.between(0, 40); count > 0; count -= 1) babble(random, assembly);
      assembly.end(random.pick(stops));
      if (assembly.fault !== undefined) continue;
      read += 1;
      const answer = assembly.response(firstAttempt);
      const told = (type: 'text' | 'text_delta') =>
        events
          .filter((event) => event.type === 'text' || event.type === 'text_delta')
          .filter((event) => event.type === type)
          .toSorted((left, right) => left.index - right.index)
          .map((event) => event.text)
          .join('');
      const where = `seed ${seed}`;

      expect(told('text'), where).toBe(answer.content);
      expect(told('text_delta').length, where).toBe(answer.content.length);
      expect(answer.content.isWellFormed(), where).toBe(true);
      expect(new Set(answer.toolCalls.map(({ id }) => id)).size, where).toBe(answer.toolCalls.length);
      const toldCalls = events.filter((event) => event.type === 'tool_call').map((event) => event.index);
      expect(new Set(toldCalls).size, where).toBe(toldCalls.length);
      expect(toldCalls.length, where).toBe(answer.toolCalls.length);
      if (answer.stopReason !== 'tool_use') {
        expect(
          answer.toolCalls.every(({ problem }) => problem !== undefined),
          where,
        ).toBe(true);
      }
      expect(
        answer.message.content.every((part) => part.type !== 'text' || part.text !== ''),
        where,
      ).toBe(true);
    }
    expect(read).toBeGreaterThan(2);
  });
});

const wholeAnswer = [frame('usage', { inputTokens: 10 }), frame('text', 0, 'Hel'), frame('text', 0, 'lo')];

/** Simulates something that a service, a network or a user can do at any moment. */
function mishap(random: SeededRandom, exchange: Exchange, person: AbortController): string {
  const kinds: Record<string, () => void> = {
    whole: () =>
      exchange
        .head()
        .write(wholeAnswer.join('') + frame('end', 'complete'))
        .end(),
    'whole, then cut': () =>
      exchange
        .head()
        .write(wholeAnswer.join('') + frame('end', 'complete'))
        .cut(),
    'whole, then silent': () => void exchange.head().write(wholeAnswer.join('') + frame('end', 'complete')),
    ended: () =>
      exchange
        .head()
        .write(wholeAnswer.slice(0, random.between(0, 3)).join(''))
        .end(),
    cut: () =>
      exchange
        .head()
        .write(wholeAnswer.join('').slice(0, random.between(0, 150)))
        .cut(),
    refused: () => refuses(random.pick([400, 401, 408, 429, 500, 529]))(exchange),
    later: () => refuses(429, '', { 'retry-after': String(random.between(0, 120)) })(exchange),
    unreachable: () => exchange.cut(),
    silent: () => {},
    stalled: () => void exchange.head().write(wholeAnswer[0] ?? ''),
    garbled: () => exchange.head().write('data: {"\n\n').end(),
    busy: () =>
      exchange
        .head()
        .write(frame('fail', { kind: 'busy', message: 'busy' }))
        .end(),
    html: () => exchange.head(200, { 'content-type': 'text/html' }).write('<p>').end(),
    person: () => person.abort(),
    'person in the middle': () => {
      exchange.head().write(wholeAnswer[1] ?? '');
      person.abort();
      exchange.end();
    },
  };
  const kind = random.pick(Object.keys(kinds));
  kinds[kind]?.();
  return kind;
}

describe('any events during a request [P1, P2, P3]', () => {
  test.each(Array.from({ length: 20 }, (_, index) => index * 15))('seeds from %i', async (first) => {
    for (let seed = first; seed < first + 15; seed += 1) {
      const random = seededRandom(seed);
      const person = new AbortController();
      const happened: string[] = [];
      const answer: Answer = (exchange) => happened.push(mishap(random, exchange, person));
      const { agent, server, runtime } = rig(Array.from({ length: 60 }, () => answer));
      const events: AgentEvent[] = [];
      const run = agent.run(
        { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }], tools: [] },
        { signal: person.signal, emit: (event) => events.push(event) },
      );
      const outcome = await hurry(
        runtime,
        run.catch((error: unknown) => error),
      );
      const where = `seed ${seed}: ${happened.join(', ')}`;

      const last = happened.at(-1) ?? '';
      const isAnswer = !(outcome instanceof Error);
      expect(isAnswer, where).toBe(last.startsWith('whole'));
      if (isAnswer) {
        expect(outcome, where).toMatchObject({ content: 'Hello', attempts: happened.length });
        const since = events.slice(events.findLastIndex(({ type }) => type === 'retry') + 1);
        expect(
          since.map(({ type }) => type),
          where,
        ).toEqual(['text_delta', 'text_delta', 'text']);
      } else {
        expect(AgentError.is(outcome), where).toBe(true);
        expect(outcome, where).toMatchObject({ attempts: happened.length });
        if (last.startsWith('person')) expect(outcome, where).toMatchObject({ kind: 'aborted' });
      }
      expect(server.exchanges.length, where).toBe(happened.length);
      expect(runtime.timers, where).toBe(0);
      expect(runtime.monotonic(), where).toBeLessThanOrEqual(600_300);
      const told = events.length;
      for (const exchange of server.exchanges) exchange.write(wholeAnswer.join(''));
      await settle();
      expect(events.length, where).toBe(told);
    }
  });
});
