import type { Mutant } from './mutant.ts';

const sse = 'src/provider/wire/framing.ts';
const lines = 'src/values/line-text.ts';
const byUnit = 'test/provider/framing.test.ts';

/** Bugs that lose a part of a stream that is not a readable frame. */
export const frameMutants: readonly Mutant[] = [
  {
    file: sse,
    find: 'sink.payload(new MalformedPayload(text.slice(at, end)));',
    replace: '',
    why: 'a line that is not a field is dropped silently',
    breaks: ['P27'],
    by: 'contract: frames',
  },
  {
    file: sse,
    find: 'if (this.#isError) sink.payload(errorIn(data));',
    replace: 'if (this.#isError && data !== undefined) sink.payload(errorIn(data));',
    why: 'an error without data is dropped silently',
    breaks: ['P27'],
    by: 'contract: frames',
  },
  {
    file: sse,
    find: 'return holdsData(payload) ? payload : new MalformedPayload(data);',
    replace: 'return payload;',
    why: 'an error with empty data is dropped silently',
    breaks: ['P27'],
    by: byUnit,
  },
  {
    file: lines,
    find: 'ignoreBOM: true, fatal: true',
    replace: 'ignoreBOM: true',
    why: 'characters that are not UTF-8 are replaced',
    breaks: ['P27'],
    by: 'contract: frames',
  },
  {
    file: 'src/provider/wire/payload.ts',
    find: 'if (isData) out.ignore(`${kind}.${name}`);',
    replace: '',
    why: 'data in unknown fields is dropped silently',
    breaks: ['P27'],
    by: 'contract: losses',
  },
];
