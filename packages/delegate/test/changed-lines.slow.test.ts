import type { SeededRandom } from '@cobbler/agent/testing';
import { seededRandom } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { LineReader } from '../src/cli/line-reader.ts';
import type { Lines } from './stories.ts';
import { dialects, outcomeOfText, randomStory } from './stories.ts';

/** A name and a value that no program uses. */
const novel = 'zz_novel';

type Change = (parent: Record<string, unknown>, name: string) => void;

/** Changes of a field: it has another name, another type, is missing, or has an unknown field beside it. */
function changesOf(random: SeededRandom): Readonly<Record<string, Change>> {
  const kind = (value: unknown) => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);
  const remove: Change = (parent, name) => {
    if (Array.isArray(parent)) parent.splice(Number(name), 1);
    else delete parent[name];
  };
  return {
    missing: remove,
    renamed(parent, name) {
      const value = parent[name];
      remove(parent, name);
      if (Array.isArray(parent)) parent.push({ [novel]: value });
      else parent[random.pick([novel, 'text', 'content', 'arguments', 'item'])] ??= value;
    },
    retyped(parent, name) {
      const others = [7, true, novel, [novel], { [novel]: novel }];
      parent[name] = random.pick(others.filter((other) => kind(other) !== kind(parent[name])));
    },
    extended(parent) {
      if (Array.isArray(parent)) parent.push({ type: novel, text: novel });
      else parent[novel] = random.pick([novel, [novel], { text: novel }]);
    },
  };
}

/** Returns the paths of all fields. */
function pathsIn(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    [...path, name],
    ...pathsIn(inner, [...path, name]),
  ]);
}

function changedLine(line: object, path: readonly string[], change: Change): string {
  const copy: Record<string, unknown> = structuredClone({ ...line });
  let parent = copy;
  for (const name of path.slice(0, -1)) parent = parent[name] as Record<string, unknown>;
  change(parent, path.at(-1) ?? '');
  return JSON.stringify(copy);
}

/**
 * Returns true for a change that a program may make: Claude Code completes the arguments of calls, and its results
 * without content are empty.
 */
function mayDiffer(path: readonly string[], change: string): boolean {
  const place = path.join('.');
  return (
    /^(message\.content\.\d+|event\.content_block)\.input\./.test(place) ||
    (change === 'missing' && /^message\.content\.\d+\.content$/.test(place))
  );
}

/** Returns the lines with each field of each line changed in each way, and with each line cut. */
function* changed(lines: Lines, random: SeededRandom): Iterable<{ what: string; texts: readonly string[] }> {
  const texts = lines.map((line) => JSON.stringify(line));
  const changes = Object.entries(changesOf(random));
  for (const [at, line] of lines.entries()) {
    for (const path of pathsIn(line))
      for (const [name, change] of changes)
        if (!mayDiffer(path, name))
          yield {
            what: `line ${at}, ${path.join('.')}: ${name}`,
            texts: texts.toSpliced(at, 1, changedLine(line, path, change)),
          };
    const text = texts[at] ?? '';
    const cut = random.between(1, text.length - 1);
    yield { what: `line ${at} without its end`, texts: texts.toSpliced(at, 1, text.slice(0, cut)) };
    yield { what: `line ${at} without its start`, texts: texts.toSpliced(at, 1, text.slice(cut)) };
  }
}

/** Returns the outcome without what describes the run. */
function contentOf(outcome: object | undefined): string | undefined {
  return outcome && JSON.stringify({ ...outcome, session: undefined });
}

describe.each(dialects)('%s', (name, adapter, write) => {
  test('has the same outcome or fails if a field is changed or a line is cut [P27]', () => {
    const counts = { same: 0, failed: 0, shown: 0 };
    for (let seed = 1; seed <= 4; seed += 1) {
      const random = seededRandom(seed);
      const lines = write(randomStory(random));
      const whole = outcomeOfText(
        adapter,
        lines.map((line) => JSON.stringify(line)),
      );
      for (const { what, texts } of changed(lines, random)) {
        const found = outcomeOfText(adapter, texts);
        const isSame = contentOf(found) === contentOf(whole);
        // What a program added or wrote instead is part of what the user sees.
        const isShown = !isSame && (contentOf(found)?.includes(novel) ?? false);
        if (found !== undefined && !isSame && !isShown)
          expect(found, `seed ${seed}, ${what}: ${texts.join('\n')}`).toEqual(whole);
        counts[found === undefined ? 'failed' : isShown ? 'shown' : 'same'] += 1;
      }
    }
    console.log(
      `${name}: ${counts.same + counts.failed + counts.shown} changed outputs: ${counts.same} the same, ${counts.shown} shown, ${counts.failed} failed`,
    );
    expect(Math.min(counts.same, counts.failed)).toBeGreaterThan(100);
  });
});

describe('lines of bytes', () => {
  test('are text, however they are split; one that is not UTF-8 is reported as lost [P27]', () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    const all = [bytes('{"a":"ж🧵"}\n\n{"b'), Uint8Array.from([0xff]), bytes('":1}\nnext\n{"c":"\ufffd"}')];
    for (let size = 1; size < 12; size += 1) {
      const read: string[] = [];
      const lost: string[] = [];
      const lines = new LineReader(
        (line) => read.push(line),
        (head, why) => lost.push(`${why}: ${head}`),
      );
      const whole = Uint8Array.from(all.flatMap((part) => [...part]));
      for (let at = 0; at < whole.length; at += size) lines.push(whole.subarray(at, at + size));
      lines.end();
      expect(read).toEqual(['{"a":"ж🧵"}', 'next', '{"c":"\ufffd"}']);
      expect(lost).toEqual(['invalid: {"b\ufffd":1}']);
    }
  });
});
