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

const event = 'src/stream-event.ts';
const turn = 'src/turn.ts';
const envelope = 'src/envelope.ts';
const fault = 'src/fault.ts';
const wire = 'src/create-claude.ts';

export const mutants: readonly Mutant[] = [
  {
    file: event,
    find: "if (signature !== '') out.seal(at, { signature });",
    replace: '',
    why: 'the signature of thinking is dropped',
    breaks: ['P12'],
    by: 'claude: seals',
  },
  {
    file: event,
    find: "const cacheRead = count(usage['cache_read_input_tokens']);\n  const cacheWrite = count(usage['cache_creation_input_tokens']);",
    replace:
      "const cacheWrite = count(usage['cache_read_input_tokens']);\n  const cacheRead = count(usage['cache_creation_input_tokens']);",
    why: 'cache reads and cache writes are swapped',
    breaks: ['S0.8'],
    by: 'claude: usage',
  },
  {
    file: event,
    find: 'input + (cacheRead ?? 0) + (cacheWrite ?? 0)',
    replace: 'input',
    why: 'cached input is not counted as input',
    breaks: ['S0.8'],
    by: 'claude: usage',
  },
  {
    file: event,
    find: 'if (hasStarted(out)) out.close(at);',
    replace: "if (hasStarted(out)) out.end('complete');",
    why: 'a response cut off after its first block counts as complete',
    breaks: ['P1'],
    by: 'claude: cuts',
  },
  {
    file: event,
    find: "stopReasons.get(reason) ?? 'unknown'",
    replace: "stopReasons.get(reason) ?? 'complete'",
    why: 'an unknown stop reason counts as complete',
    breaks: ['P4'],
    by: 'claude: answers',
  },
  {
    file: event,
    find: "['max_tokens', 'max_tokens'],",
    replace: "['max_tokens', 'complete'],",
    why: 'a response cut off by its token limit counts as complete',
    breaks: ['P4'],
    by: 'claude: answers',
  },
  {
    file: event,
    find: "['refusal', 'refusal'],",
    replace: "['refusal', 'complete'],",
    why: 'a refusal counts as complete',
    breaks: ['P4'],
    by: 'claude: answers',
  },
  {
    file: event,
    find: "return readError(fieldsOf(event['error']), out);",
    replace: 'return;',
    why: 'an error inside the stream is ignored',
    breaks: ['P5'],
    by: 'claude: faults',
  },
  {
    file: event,
    find: "out.reasoning(at, textIn(delta, 'thinking', out));",
    replace: "out.text(at, textIn(delta, 'thinking', out));",
    why: 'thinking is emitted as text',
    breaks: ['S0.6'],
    by: 'claude: answers',
  },
  {
    file: event,
    find: "  out.begin(at, 'text');\n",
    replace: '',
    why: 'a text without its end event counts as complete',
    breaks: ['P27'],
    by: 'test/repeated-blocks.test.ts',
  },
  {
    file: event,
    find: 'else if (kind !== undefined) out.ignore(String(kind));',
    replace: '',
    why: 'unknown deltas are dropped silently',
    breaks: ['P27'],
    by: 'test/stream-event.test.ts',
  },
  {
    file: event,
    find: 'if (started.has(out)) return true;',
    replace: 'if (out) return true;',
    why: 'a response without its start event is accepted without a model',
    breaks: ['P27'],
    by: 'claude: losses',
  },
  {
    file: event,
    find: "out.begin(at, 'text');\n    out.text(at, textIn(block, 'text', out));",
    replace: '',
    why: 'a text block is ordered by its first delta instead of its start',
    breaks: [],
    by: 'claude: stream',
  },
  {
    file: event,
    find: "out.text(at, textIn(block, 'text', out));",
    replace: '',
    why: 'text in the start of a block is lost',
    breaks: [],
    by: 'test/stream-event.test.ts',
  },
  {
    file: event,
    find: "out.input(at, textIn(delta, 'partial_json', out));",
    replace: "out.text(at, textIn(delta, 'partial_json', out));",
    why: 'call arguments are emitted as text',
    breaks: ['S0.7'],
    by: 'claude: calls',
  },
  {
    file: event,
    find: "if (typeof message['model'] === 'string') out.model(message['model']);",
    replace: '',
    why: 'the responding model is not reported',
    breaks: [],
    by: 'claude: answers',
  },
  {
    file: turn,
    find: 'if (part.isError) block.is_error = true;',
    replace: '',
    why: 'a failed call is sent back as successful',
    breaks: ['S0.16'],
    by: 'claude: history',
  },
  {
    file: turn,
    find: "{ type: 'thinking', thinking: part.text, signature }",
    replace: "{ type: 'thinking', thinking: part.text.trim(), signature }",
    why: 'thinking is trimmed before it is sent back',
    breaks: ['P12'],
    by: 'claude: seals',
  },
  {
    file: turn,
    find: 'tool_use_id: part.callId',
    replace: 'tool_use_id: part.toolName',
    why: 'results are sent with the wrong call id',
    breaks: ['P12'],
    by: 'claude: history',
  },
  {
    file: turn,
    find: "source: { type: 'base64', media_type, data }",
    replace: "source: { type: 'base64', media_type: 'image/jpeg', data }",
    why: 'every image is declared as JPEG',
    breaks: [],
    by: 'claude: capabilities',
  },
  {
    file: envelope,
    find: "if (request.toolChoice === 'none') body.tool_choice = { type: 'none' };",
    replace: '',
    why: 'a request with tool choice none allows tools',
    breaks: ['S0.2'],
    by: 'claude: request',
  },
  {
    file: envelope,
    find: 'max_tokens: request.maxTokens ?? defaultMaxTokens',
    replace: 'max_tokens: defaultMaxTokens',
    why: "the request's token limit is not sent",
    breaks: ['S0.3'],
    by: 'claude: config',
  },
  {
    file: envelope,
    find: 'if (output !== undefined) body.output_config = output;',
    replace: '',
    why: 'the output schema is not sent',
    breaks: ['S0.2'],
    by: 'claude: output',
  },
  {
    file: envelope,
    find: 'if (system.length > 0) body.system = system;',
    replace: 'if (system.length > 0) body.system = system.slice(0, 1);',
    why: 'only the first of several system texts is sent',
    breaks: ['S0.2'],
    by: 'claude: request',
  },
  {
    file: fault,
    find: "['overloaded_error', 'busy'],",
    replace: "['overloaded_error', 'invalid'],",
    why: 'a request to an overloaded service is not retried',
    breaks: ['P5'],
    by: 'claude: faults',
  },
  {
    file: wire,
    find: "requestIdHeader: 'request-id'",
    replace: "requestIdHeader: 'x-request-id'",
    why: 'the request id is read from the wrong header',
    breaks: [],
    by: 'claude: answers',
  },
  {
    file: 'src/endpoint.ts',
    find: 'return { url, headers,',
    replace: 'return { url: account.baseURL, headers,',
    why: 'requests are sent to the base URL without the path',
    breaks: [],
    by: 'claude: request',
  },
  {
    file: 'src/envelope.ts',
    find: 'input_schema: tool.parameters as unknown as',
    replace: "input_schema: { type: 'object' } as unknown as",
    why: 'a tool is declared without its parameters',
    breaks: ['S0.18'],
    by: 'test/requirements.test.ts',
  },
  {
    file: 'src/envelope.ts',
    find: '    stream: true,\n',
    replace: '    stream: false as unknown as true,\n',
    why: 'responses are not streamed',
    breaks: ['S0.19'],
    by: 'test/requirements.test.ts',
  },
  {
    file: 'src/index.ts',
    find: "export type { Thinking } from './envelope.ts';",
    replace: "export type { Thinking } from './envelope.ts';\nexport * from './stream-event.ts';",
    why: 'internals of the provider are exported',
    breaks: ['S0.21'],
    by: 'test/create-claude.test.ts',
  },
  {
    file: 'src/claude-harness.ts',
    find: 'rest.maxTokens || 4096',
    replace: 'rest.maxTokens || 8192',
    why: 'the default maximum of tokens of a conversation is wrong',
    breaks: ['S4.1'],
    by: 'test/requirements-s4.test.ts',
  },
  {
    file: 'src/envelope.ts',
    find: "if (request.toolChoice === 'none') body.tool_choice = { type: 'none' };",
    replace: "body.tool_choice = { type: request.toolChoice === 'none' ? 'none' : 'any' };",
    why: 'requests force a tool call',
    breaks: ['S4.2'],
    by: 'test/requirements-s4.test.ts',
  },
  {
    file: 'src/claude-harness.ts',
    find: '    handler,\n',
    replace: '    handler: { onUser: (handler as HarnessHandler).onUser as never },\n',
    why: 'a conversation without a handler fails',
    breaks: ['S4.4'],
    by: 'test/requirements-s4.test.ts',
  },
];
