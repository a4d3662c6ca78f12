import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/events/event.ts';
import { fold } from '../../src/events/fold.ts';
import { knownTypes } from '../../src/events/schema.ts';
import type { State } from '../../src/events/state.ts';
import { emptyState } from '../../src/events/state.ts';
import {
  eventJsonSchema,
  eventSchema,
  exportSession,
  importSession,
  repairLog,
} from '../../src/store/format.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { outline } from '../../src/testing/conversation.ts';
import { assertValidHistory } from '../../src/testing/valid-history.ts';
import type { Schema } from './schema-change.ts';
import { schemaChange } from './schema-change.ts';

const snapshot: Schema = JSON.parse(readFileSync(new URL('../event-schema.json', import.meta.url), 'utf8'));

/** Returns a copy of the snapshot with a change to one type of event. */
function changed(type: string, change: (schema: { properties: Fields; required: string[] }) => void): Schema {
  const copy = structuredClone(snapshot) as { oneOf: { properties: Fields; required: string[] }[] };
  const found = copy.oneOf.find(({ properties }) => properties['type']?.['const'] === type);
  if (found === undefined) throw new Error(`The snapshot has no event type ${type}.`);
  change(found);
  return copy as unknown as Schema;
}

type Fields = Record<string, Record<string, unknown>>;

describe('the format of events, version 1 (docs/events.md)', () => {
  it('differs from the snapshot only by allowed changes', () => {
    const { broken } = schemaChange(snapshot, eventJsonSchema());
    expect(broken, 'This breaks readers. Revert it, or start format version 2: docs/events.md').toEqual([]);
  });

  it('equals the snapshot; after an allowed change update it: npm run generate -- events', () => {
    const { added } = schemaChange(snapshot, eventJsonSchema());
    expect(added, 'These changes are allowed. Update the snapshot: npm run generate -- events').toEqual([]);
    expect(eventJsonSchema()).toEqual(snapshot);
  });
});

describe('the changes allowed in a format', () => {
  const allowed: readonly [string, Schema][] = [
    ['an optional field', changed('resumed', ({ properties }) => void Object.assign(properties, { by: {} }))],
    [
      'an event type',
      {
        ...snapshot,
        oneOf: [
          ...(snapshot['oneOf'] as readonly Schema[]),
          { type: 'object', properties: { type: { const: 'dreamt' } }, required: ['type'] },
        ],
      },
    ],
    ['a description', changed('resumed', (schema) => void Object.assign(schema, { description: 'Later.' }))],
  ];
  it.each(allowed)('%s may be added', (_what, after) => {
    expect(schemaChange(snapshot, after).broken).toEqual([]);
    expect(schemaChange(after, after)).toEqual({ added: [], broken: [] });
  });

  it('schemaChange lists what was added', () => {
    expect(allowed.flatMap(([, after]) => schemaChange(snapshot, after).added)).toEqual([
      'resumed.by: a new optional field',
      'dreamt: a new event type',
    ]);
  });

  const forbidden: readonly [string, Schema, RegExp][] = [
    [
      'an event type cannot be removed',
      { ...snapshot, oneOf: (snapshot['oneOf'] as readonly Schema[]).slice(1) },
      /^user: the event type was removed/,
    ],
    [
      'a field cannot be removed',
      changed('tool_result', ({ properties }) => delete properties['diff']),
      /^tool_result\.diff: the field was removed/,
    ],
    [
      'an optional field cannot become required',
      changed('tool_result', ({ required }) => required.push('summary')),
      /^tool_result\.summary: is now required/,
    ],
    [
      'a new field cannot be required',
      changed('resumed', ({ properties, required }) => {
        Object.assign(properties, { by: {} });
        required.push('by');
      }),
      /^resumed\.by: is now required/,
    ],
    [
      'a required field cannot become optional',
      changed('compacted', ({ required }) => void required.splice(required.indexOf('summary'), 1)),
      /^compacted\.summary: is now optional/,
    ],
    [
      'a value cannot be removed',
      changed(
        'stop_requested',
        ({ properties }) =>
          void Object.assign(properties, { reason: { type: 'string', enum: ['timeout', 'limit'] } }),
      ),
      /^stop_requested\.reason: no longer accepts "cancelled"/,
    ],
    [
      'a value cannot be added, because older readers reject it',
      changed('approval_decided', ({ properties }) => {
        const { decision } = properties as { decision?: { enum: string[] } };
        decision?.enum.push('later');
      }),
      /^approval_decided\.decision: now accepts "later"/,
    ],
    [
      'a type cannot be narrowed',
      changed('compacted', ({ properties }) => Object.assign(properties['summary'] ?? {}, { maxLength: 10 })),
      /^compacted\.summary: maxLength: was absent and is 10/,
    ],
    [
      'a type cannot be replaced',
      changed(
        'tool_started',
        ({ properties }) => void Object.assign(properties, { callId: { type: 'number' } }),
      ),
      /^tool_started\.callId: type: was "string" and is "number"/,
    ],
    [
      'a nested field cannot become required',
      changed('assistant', ({ properties }) => {
        const usage = properties['usage'] as { required: string[] };
        usage.required.push('reasoningTokens');
      }),
      /^assistant\.usage\.reasoningTokens: is now required/,
    ],
    [
      'a message cannot get a new type of part',
      changed('user', ({ properties }) => {
        const items = properties['content']?.['items'] as { oneOf: Schema[] };
        items.oneOf.push({ type: 'object', properties: { type: { const: 'sound' } } });
      }),
      /^user\.content\[\]: now accepts sound/,
    ],
  ];
  it.each(forbidden)('%s', (_what, after, words) => {
    expect(schemaChange(snapshot, after).broken).toEqual([expect.stringMatching(words)]);
  });
});

const folder = new URL('../fixtures/events/', import.meta.url);
const recorded = readdirSync(folder).map((name) => {
  const lines = readFileSync(new URL(name, folder), 'utf8').trimEnd().split('\n');
  return { name, lines, events: lines.map((line): Event => JSON.parse(line)) };
});

function folded(events: readonly Event[]): State {
  const state = emptyState();
  for (const event of events) fold(state, event);
  return state;
}

/** Adds fields and events to a log, as a later version may write them. */
function ofLaterVersion(events: readonly Event[]): Event[] {
  // Only `finished` has a fixed position: no event of the run follows it.
  const grown = events.flatMap((event) => [
    { ...event, mood: 'good' },
    ...(event.type === 'finished' ? [] : [{ ...event, type: 'dreamt', of: { sheep: 3 } }]),
  ]);
  return grown.map((event, at) => ({ ...event, seq: at + 1, id: `x-${at + 1}` }) as unknown as Event);
}

describe('recorded logs of version 1', () => {
  it('contain every type of event', () => {
    expect(new Set(recorded.flatMap(({ events }) => events.map(({ type }) => type)))).toEqual(knownTypes);
  });

  it.each(recorded)(
    '$name is read and folds to the same conversation as when it was recorded',
    ({ events, name }) => {
      for (const event of events) expect(eventSchema.parse(event)).toEqual(event);
      expect(repairLog(events)).toEqual({ events, problems: [] });
      const { messages, metrics, finished } = folded(events);
      assertValidHistory(messages);
      const { invocations, toolCalls } = metrics;
      expect({
        messages: outline(messages),
        invocations,
        toolCalls,
        status: finished?.status,
      }).toMatchSnapshot(name);
    },
  );

  it.each(recorded)('$name goes through import and export unchanged', async ({ events, lines }) => {
    const store = memoryStore();
    const id = events[0]?.id.replace(/-1$/, '') ?? '';
    await importSession(store, lines, id);
    const out = await Array.fromAsync(exportSession(store, id));
    expect(out.map((line) => line.trimEnd())).toEqual(lines);
  });

  it.each(recorded)(
    '$name with fields and events of a later version folds to the same conversation and keeps them',
    async ({ events }) => {
      const later = ofLaterVersion(events);
      expect(repairLog(later)).toEqual({ events: later, problems: [] });
      expect(folded(later).messages).toEqual(folded(events).messages);
      expect(folded(later).metrics).toEqual(folded(events).metrics);
    },
  );

  it('an event of format version 2 is not mistaken for version 1', async () => {
    const [first] = recorded;
    const lines = (first?.events ?? []).map((event) => JSON.stringify({ ...event, v: 2, type: 'dreamt' }));
    const { events, problems } = repairLog(lines.map((line) => JSON.parse(line)));
    expect(events).toEqual([]);
    expect(problems[0]?.what).toMatch(/format version 2/);
    await expect(importSession(memoryStore(), lines, 'x')).rejects.toMatchObject({ code: 'damaged_log' });
  });
});
