/** A planted bug in the provider. The contract or a unit test must detect it. */
export interface Mutant {
  /** Path relative to the package. */
  readonly file: string;
  /** Code to replace; occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Description of the bug. */
  readonly why: string;
  /** The violated promises ('P9') or requirements ('S0.16'). The detecting test cites one. */
  readonly breaks: readonly string[];
  /** The tests that must detect it: a prefix of contract case names, or a unit test file. */
  readonly by: string;
}

const wire = 'src/wire.ts';
const response = 'src/response.ts';

export const mutants: readonly Mutant[] = [
  {
    file: response,
    find: 'if (id && seen.has(whole))',
    replace: 'if (false)',
    why: 'a call that arrives twice runs twice',
    breaks: ['P9'],
    by: 'gemini: blocks',
  },
  {
    file: response,
    find: 'if (!partFields.has(name)) out.ignore(`part.${name}`);',
    replace: 'if (false) out.ignore(name);',
    why: 'an image in a response is dropped silently',
    breaks: ['P27'],
    by: 'test/response.test.ts',
  },
  {
    file: response,
    find: "if (typeof finishReason !== 'string') return;",
    replace: "if (typeof finishReason !== 'string') return out.end('complete');",
    why: 'each chunk ends the response',
    breaks: ['P1'],
    by: 'test/response.test.ts',
  },
  {
    file: response,
    find: "inputTokens: count('promptTokenCount') + count('toolUsePromptTokenCount'),",
    replace: "inputTokens: count('promptTokenCount'),",
    why: 'the input that tools of the service returned is not counted',
    breaks: ['S0.8'],
    by: 'test/response.test.ts',
  },
  {
    file: response,
    find: "outputTokens: count('candidatesTokenCount') + count('thoughtsTokenCount'),",
    replace: "outputTokens: count('candidatesTokenCount'),",
    why: 'thoughts are not counted as output',
    breaks: ['S0.8'],
    by: 'gemini: usage',
  },
  {
    file: response,
    find: "if (thought) out.seal('thought', { thoughtSignature: signature });",
    replace: 'if (thought) out.close(signature);',
    why: 'the signature of a thought is lost',
    breaks: ['P12'],
    by: 'gemini: seals',
  },
  {
    file: response,
    find: "if (signature !== '') out.close('text');",
    replace: '',
    why: 'a text with a signature is joined with the text before it',
    breaks: ['P12'],
    by: 'test/recorded.test.ts',
  },
  {
    file: response,
    find: "if (signature !== '') out.seal('call', { thoughtSignature: signature });",
    replace: '',
    why: 'the signature of a call is lost',
    breaks: ['S0.16', 'P27'],
    by: 'test/recorded.test.ts',
  },
  {
    file: response,
    find: "['MALFORMED_FUNCTION_CALL', 'broken'],",
    replace: '',
    why: 'a response with a malformed call is not retried',
    breaks: ['P1'],
    by: 'test/response.test.ts',
  },
  {
    file: wire,
    find: 'if (isSigned && calls[0] !== undefined',
    replace: 'if (false && calls[0] !== undefined',
    why: 'a call of another provider has no signature',
    breaks: ['P12'],
    by: 'test/request.test.ts',
  },
  {
    file: wire,
    find: "...(toolChoice === 'none' && {",
    replace: '...(false && {',
    why: 'the model may call tools although none may be called',
    breaks: ['S0.2'],
    by: 'gemini: request',
  },
  {
    file: wire,
    find: "if (key === 'const') return ['enum', [value]];",
    replace: '',
    why: 'a constant in an output schema is sent to a service that does not know it',
    breaks: ['S0.2'],
    by: 'test/request.test.ts',
  },
  {
    file: response,
    find: "dropUnread('functionCall', call, ['id', 'name', 'args'], out);",
    replace: '',
    why: 'a call whose arguments have another name runs without arguments',
    breaks: ['P27'],
    by: 'gemini: losses',
  },
  {
    file: wire,
    find: 'maxOutputTokens: maxTokens,',
    replace: 'maxOutputTokens: undefined,',
    why: 'the maximum number of tokens is not sent',
    breaks: ['S0.3'],
    by: 'gemini: config',
  },
  {
    file: wire,
    find: 'temperature,\n    thinkingConfig',
    replace: 'thinkingConfig',
    why: 'the temperature is not sent',
    breaks: ['S0.4'],
    by: 'gemini: config',
  },
];
