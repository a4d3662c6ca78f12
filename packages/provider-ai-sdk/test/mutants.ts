/** A planted bug in the provider. The contract or a unit test must detect it. */
export interface Mutant {
  /** Path within the package. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The consequence of the bug. */
  readonly why: string;
  /** The promises ('P9') or requirements ('S0.16') that it violates. Its test cites one of them. */
  readonly breaks: readonly string[];
  /** The tests that must detect it: a prefix of the names of contract cases, or a test file. */
  readonly by: string;
}

const reader = 'src/response/response-reader.ts';
const stop = 'src/response/stop.ts';
const rawEvents = 'src/response/raw-events.ts';
const sdkCall = 'src/http/sdk-call.ts';
const prompt = 'src/request/prompt.ts';

export const mutants: readonly Mutant[] = [
  {
    file: rawEvents,
    find: 'if (lost !== undefined) return `the SDK cannot keep ${lost}`;\n    if (typeof type',
    replace: 'if (typeof type',
    why: 'a call whose arguments have another name runs without arguments',
    breaks: ['P27'],
    by: 'ai-sdk chat: losses',
  },
  {
    file: rawEvents,
    find: "if (hasStarted && type === 'message_start') return 'its start arrived twice';",
    replace: '',
    why: 'a second start is accepted',
    breaks: ['P27'],
    by: 'test/raw-events.test.ts',
  },
  {
    file: sdkCall,
    find: 'if (problem !== undefined) onChunk(chunkOf([malformedResponse(problem)]));',
    replace: '',
    why: 'lines that are not fields are dropped silently',
    breaks: ['P27'],
    by: 'ai-sdk chat: frames',
  },
  {
    file: stop,
    find: "if (reason.unified === 'interrupted' || reason.unified === 'error') return undefined;",
    replace: "if (reason.unified === 'error') return undefined;",
    why: 'a response that the SDK reports as interrupted counts as complete',
    breaks: ['P1'],
    by: 'ai-sdk anthropic: cuts',
  },
  {
    file: stop,
    find: "pause_turn: 'pause',",
    replace: '',
    why: 'a paused response counts as complete',
    breaks: ['P4'],
    by: 'ai-sdk anthropic: answers',
  },
  {
    file: stop,
    find: "length: 'max_tokens',",
    replace: "length: 'complete',",
    why: 'a response truncated at its token limit counts as complete',
    breaks: ['P4'],
    by: 'ai-sdk anthropic: answers',
  },
  {
    file: stop,
    find: "if (word !== undefined) return noted.get(word) ?? 'unknown';",
    replace: '',
    why: 'calls of a response that ended for an unknown reason run',
    breaks: ['P9'],
    by: 'ai-sdk responses: stops',
  },
  {
    file: stop,
    find: 'cacheReadTokens: input.cacheRead,\n    cacheWriteTokens: input.cacheWrite,',
    replace: 'cacheReadTokens: input.cacheWrite,\n    cacheWriteTokens: input.cacheRead,',
    why: 'cache reads and cache writes are swapped',
    breaks: ['S0.8'],
    by: 'ai-sdk anthropic: usage',
  },
  {
    file: stop,
    find: 'if (plain === undefined) return undefined;',
    replace: 'return undefined;',
    why: 'the usage of a truncated response is not reported',
    breaks: ['P14'],
    by: 'ai-sdk anthropic: usage',
  },
  {
    file: reader,
    find: "else if (content.test(part.type)) this.#failMalformed('content arrived after its end');",
    replace: '',
    why: 'content after the end of a response is dropped silently',
    breaks: ['P27'],
    by: 'ai-sdk chat: losses',
  },
  {
    file: 'src/response/raw-events.ts',
    find: "fieldsOf(block)['type']) !== at + 1)",
    replace: "fieldsOf(block)['type']) < 0)",
    why: 'a block whose start was lost is dropped by the SDK',
    breaks: ['P27'],
    by: 'ai-sdk anthropic: losses',
  },
  {
    file: 'src/response/raw-events.ts',
    find: "if (blocks[at] === undefined) return 'a block ended before it started';",
    replace: '',
    why: 'a call without arguments whose start was lost is dropped by the SDK',
    breaks: ['P27'],
    by: 'test/raw-events.test.ts',
  },
  {
    file: 'src/response/raw-events.ts',
    find: "if (isTorn) return 'an item is incomplete';",
    replace: '',
    why: 'data that the SDK reads only from the last event of an item is lost with that event',
    breaks: ['P27'],
    by: 'ai-sdk responses: losses',
  },
  {
    file: reader,
    find: "if (block.text === '') this.#delta(",
    replace: 'this.#delta(',
    why: 'the arguments of a call are reported twice',
    breaks: [],
    by: 'ai-sdk anthropic: calls',
  },
  {
    file: reader,
    find: "if (type !== 'signature_delta' ||",
    replace: "if (type !== 'signature_deltas' ||",
    why: 'the signature of interleaved reasoning is lost',
    breaks: ['P12'],
    by: 'test/response-reader.test.ts',
  },
  {
    file: 'src/response/response-reader.ts',
    find: 'thought.texts.push(options);',
    replace: '',
    why: 'the id of the message after reasoning is lost',
    breaks: ['P12'],
    by: 'ai-sdk responses: seals',
  },
  {
    file: prompt,
    find: "return { type: isError ? 'error-text' : 'text', value };",
    replace: "return { type: 'text', value };",
    why: 'a failed tool result looks like a successful one',
    breaks: [],
    by: 'ai-sdk anthropic: history',
  },
  {
    file: sdkCall,
    find: 'if (raw.status < 200 || raw.status >= 300 || !isStream(type)) {',
    replace: 'if (raw.status < 200 || raw.status >= 300) {',
    why: 'the SDK receives an error page of a proxy as a response',
    breaks: [],
    by: 'ai-sdk anthropic: bodies',
  },
  {
    file: sdkCall,
    find: '      await pumped;\n',
    replace: '',
    why: 'a broken connection is reported as a normal end',
    breaks: ['P5'],
    by: 'test/sdk-call.test.ts',
  },
  {
    file: sdkCall,
    find: 'onChunk(chunkOf(to.push(bytes) ? [] : [tooLarge]));',
    replace: 'to.push(bytes);',
    why: 'bytes that the SDK ignores do not reset the idle timeout',
    breaks: ['P2'],
    by: 'ai-sdk anthropic: waits',
  },
  {
    file: 'src/wire.ts',
    find: 'toolChoice: { type: toolChoice },',
    replace: "toolChoice: { type: 'auto' },",
    why: 'a closing request allows tool calls',
    breaks: [],
    by: 'ai-sdk anthropic: request',
  },
  {
    file: 'src/create-ai-sdk.ts',
    find: 'const provider = `ai-sdk.${service}`;',
    replace: "const provider = `ai-sdk.${service.split('.')[0]}`;",
    why: 'a model of another service has only the name of its provider',
    breaks: ['S3.7'],
    by: 'test/create-ai-sdk.test.ts',
  },
  {
    file: 'src/anthropic.ts',
    find: "const defaultModel = 'claude-haiku-4-5';",
    replace: "const defaultModel = 'claude-haiku-5-5';",
    why: 'another model is the default',
    breaks: ['S3.8'],
    by: 'test/create-ai-sdk.test.ts',
  },
  {
    file: 'src/anthropic.ts',
    find: 'modelNameOf(config, service, defaultModel)',
    replace: 'config.model ?? defaultModel',
    why: 'ANTHROPIC_MODEL does not select the model',
    breaks: ['S3.8'],
    by: 'test/create-ai-sdk.test.ts',
  },
];
