import type { Event, Message, ToolCallPart } from '@cobbler/agent';
import { callsOf, textOf } from '@cobbler/agent';
import type { Blobs } from '@cobbler/agent/context';
import type { Program } from '../scenario/program.ts';
import { cutsIn, readingTool } from '../scenario/repeatable-tools.ts';
import type { World } from '../scenario/world.ts';
import { never } from '../scenario/world.ts';

type Putting = 'keeps' | 'keeps later' | 'fails' | 'hangs';

const puttings: readonly (readonly [number, Putting])[] = [
  [85, 'keeps'],
  [8, 'keeps later'],
  [4, 'fails'],
  [3, 'hangs'],
];

type Getting = 'gives' | 'gives later' | 'has lost' | 'fails' | 'hangs';

const gettings: readonly (readonly [number, Getting])[] = [
  [85, 'gives'],
  [8, 'gives later'],
  [3, 'has lost'],
  [2, 'fails'],
  [2, 'hangs'],
];

/**
 * A simulated blob store for offloaded output. It survives the programs and has the same faults as other
 * storage.
 */
export class Cellar {
  readonly #world: World;
  readonly #kept = new Map<string, Uint8Array>();
  readonly #lost = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Returns the blob store of one program. */
  blobs(program: Program): Blobs {
    const { choices } = this.#world;
    return {
      put: (id, bytes) => {
        const keep = () => void this.#kept.set(id, bytes);
        const manner = choices.among('blob is put', puttings);
        const what = `the blob store ${manner} blob ${id} of ${bytes.length} bytes`;
        return this.#behave(program, what, manner, keep);
      },
      get: (id, { start, end }) => {
        const manner = choices.among('blob is read', gettings);
        if (manner === 'has lost') this.#lost.add(id);
        const give = () => {
          const bytes = manner === 'has lost' ? undefined : this.#kept.get(id);
          return bytes && { bytes: bytes.subarray(start, end), size: bytes.length };
        };
        return this.#behave(
          program,
          `the blob store ${manner} blob ${id} from offset ${start}`,
          manner,
          give,
        );
      },
    };
  }

  #behave<Value>(
    program: Program,
    what: string,
    manner: Putting | Getting,
    work: () => Value,
  ): Value | Promise<Value> {
    if (!program.alive) return never();
    program.cross('blob');
    this.#world.note(`${program.name}: ${what}`);
    if (manner === 'hangs') return never();
    if (manner === 'fails') return this.#world.later(3, program, what, broken);
    if (manner !== 'keeps later' && manner !== 'gives later') return work();
    return this.#world.later(this.#world.choices.pick('cellar takes', [40, 900, 9_000]), program, what, work);
  }

  /** P10: the log contains both ends of an offloaded output, and how to read the middle. */
  checkExcerpts(events: readonly Event[], expect: World['expect']): void {
    for (const event of events) {
      if (event.type !== 'tool_result' || event.toolName === readingTool) continue;
      const cuts = event.content.flatMap((part) => (part.type === 'text' ? cutsIn(part.text) : []));
      const named = (event.blobs ?? []).map(({ id, bytes }) => `${id} of ${bytes}`);
      const cut = cuts.map(({ id }) => `${id} of ${this.#kept.get(id)?.length}`);
      expect(
        named.join() === cut.join(),
        'P10 blobs',
        `the event has the blobs ${named}, its text refers to ${cut}`,
      );
      for (const { id, offset, head, tail, between } of cuts) {
        const whole = this.#kept.get(id) ?? new Uint8Array();
        const isSame =
          sizeOf(head) === offset &&
          textIn(whole, 0, offset) === head &&
          textIn(whole, offset + between, whole.length) === tail;
        expect(
          isSame,
          'P10 excerpt',
          `the text around the ${between} missing bytes of ${id} at ${offset} differs from the original`,
        );
      }
    }
  }

  /** P10: reading an offloaded output returns its text, from the requested offset. */
  checkReading(messages: readonly Message[], expect: World['expect']): void {
    for (const [at, message] of messages.entries()) {
      if (message.role !== 'assistant') continue;
      for (const [index, call] of callsOf(message).entries()) {
        const result = messages[at + 1 + index];
        if (call.toolName === readingTool && result?.role === 'tool_result')
          this.#checkRead(call, textOf(result), expect);
      }
    }
  }

  #checkRead(call: ToolCallPart, text: string, expect: World['expect']): void {
    const id = String(call.arguments['id']);
    const offset = Number(call.arguments['offset'] ?? 0);
    const whole = this.#kept.get(id);
    const failure = `reading ${id} from offset ${offset} returned: ${text.slice(0, 80)}`;
    if (text.startsWith('There is no blob'))
      expect(whole === undefined || this.#lost.has(id), 'P10 reading', failure);
    if (text.includes('is beyond its end')) expect(offset >= (whole?.length ?? 0), 'P10 reading', failure);
    const match = /^\(bytes (\d+) to (\d+) of (\d+); (more follows|the end)\)\n/.exec(text);
    if (match === null) return;
    const [head, from, to, size, rest] = [
      match[0],
      Number(match[1]),
      Number(match[2]),
      Number(match[3]),
      match[4],
    ];
    const isSame =
      whole !== undefined &&
      size === whole.length &&
      from >= offset &&
      from < offset + 4 &&
      text.slice(head.length) === textIn(whole, from, to) &&
      (rest === 'the end') === (to === size);
    expect(isSame, 'P10 reading', failure);
  }
}

function broken(): never {
  throw Object.assign(new Error('the blob store failed'), { code: 'EIO' });
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function textIn(bytes: Uint8Array, from: number, to: number): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, to));
}
