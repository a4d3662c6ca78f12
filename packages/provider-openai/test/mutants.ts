/** A change that makes the provider wrong. The contract must notice every one of them. */
export interface Mutant {
  /** Below the package's folder. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What is wrong with it. */
  readonly why: string;
}

const responsesEvent = 'src/responses/event.ts';
const responsesTurn = 'src/responses/turn.ts';
const responsesWire = 'src/responses/wire.ts';
const chatEvent = 'src/chat/event.ts';
const chatCalls = 'src/chat/calls.ts';
const chatTurn = 'src/chat/turn.ts';
const chatWire = 'src/chat/wire.ts';

/** Mistakes of the Responses wire. */
export const responsesMutants: readonly Mutant[] = [
  {
    file: responsesEvent,
    find: 'if (canReturn(item)) out.seal(at, returned(item));',
    replace: '',
    why: 'Responses: reasoning is shown and not kept',
  },
  {
    file: responsesEvent,
    find: 'const { status: _status, created_by: _createdBy, ...rest } = item;',
    replace: 'const { status: _status, encrypted_content: _encrypted, ...rest } = item;',
    why: 'Responses: reasoning goes back without its encrypted content',
  },
  {
    file: responsesEvent,
    find: "out.reasoning(at, '');\n  }",
    replace: '}',
    why: 'Responses: reasoning has its place by its first word, not by when it opened',
  },
  {
    file: responsesEvent,
    find: 'if (head?.phase !== undefined || (head?.id !== undefined && answerOf(out).thought)) {',
    replace: 'if (head?.phase !== undefined) {',
    why: 'Responses: the id that ties a message to its reasoning is not kept',
  },
  {
    file: responsesEvent,
    find: "called ? 'tool_use' : 'complete'",
    replace: "'complete'",
    why: 'Responses: an answer of calls counts as complete',
  },
  {
    file: responsesEvent,
    find: "['max_output_tokens', 'max_tokens'],",
    replace: "['max_output_tokens', 'complete'],",
    why: 'Responses: an answer cut at its token limit counts as complete',
  },
  {
    file: responsesEvent,
    find: "['content_filter', 'refusal'],",
    replace: "['content_filter', 'complete'],",
    why: 'Responses: a filtered answer counts as complete',
  },
  {
    file: responsesEvent,
    find: "incomplete.get(reason) ?? 'unknown'",
    replace: "incomplete.get(reason) ?? 'complete'",
    why: 'Responses: a reason of the future counts as a normal end',
  },
  {
    file: responsesEvent,
    find: "'response.output_item.done': (payload, out) => finish(payload, out),",
    replace:
      "'response.output_item.done': (payload, out) => {\n    finish(payload, out);\n    out.end('complete');\n  },",
    why: 'Responses: an answer counts as whole with its first item',
  },
  {
    file: responsesEvent,
    find: "failWith(isFields(response) ? response['error'] : undefined, out);",
    replace: "out.end('complete');",
    why: 'Responses: a failed response counts as complete',
  },
  {
    file: responsesEvent,
    find: "error: (payload, out) => failWith(payload['error'] ?? payload, out),",
    replace: '',
    why: 'Responses: an error inside the stream is ignored',
  },
  {
    file: responsesEvent,
    find: "if (!told.has(at) && textIn(item, 'arguments') !== '')",
    replace: '',
    why: 'Responses: arguments are told piece by piece and then again',
  },
  {
    file: responsesEvent,
    find: "if (isFields(response) && typeof response['model'] === 'string') out.model(response['model']);",
    replace: '',
    why: 'Responses: the model that answers is not told',
  },
  {
    file: responsesEvent,
    find: "{ input: 'input_tokens', output: 'output_tokens' }",
    replace: "{ input: 'output_tokens', output: 'input_tokens' }",
    why: 'Responses: input and output tokens are swapped',
  },
  {
    file: responsesTurn,
    find: 'call_id: part.callId',
    replace: 'call_id: part.toolName',
    why: 'Responses: results do not say which call they answer',
  },
  {
    file: responsesTurn,
    find: 'if (known?.id === undefined) thoughts = [];\n      add((ids) => message(part.text, known, ids));',
    replace: 'add(() => message(part.text, undefined, false));',
    why: 'Responses: reasoning goes back before a message that is not tied to it',
  },
  {
    file: responsesTurn,
    find: 'const id = tied && isFields(sealed)',
    replace: 'const id = isFields(sealed)',
    why: 'Responses: the id of a call goes back without the reasoning it is tied to',
  },
  {
    file: responsesTurn,
    find: "if (content.length > 0) items.push({ type: 'message', role: 'user', content });",
    replace: "if (content.length > 0) items.unshift({ type: 'message', role: 'user', content });",
    why: 'Responses: what the user says is put before the results',
  },
  {
    file: responsesTurn,
    find: 'content.map(inputContent)',
    replace: "content.map((part) => (part.type === 'text' ? part.text : '')).join('')",
    why: 'Responses: a picture that a tool returns gets lost',
  },
  {
    file: responsesWire,
    find: 'store: false',
    replace: 'store: true',
    why: 'Responses: the conversation is stored at the service',
  },
  {
    file: responsesWire,
    find: '...tool, strict: false',
    replace: '...tool, strict: true',
    why: 'Responses: the service reads the schemas of tools in its own way',
  },
  {
    file: responsesWire,
    find: "request.system.join('\\n\\n')",
    replace: "(request.system[0] ?? '')",
    why: 'Responses: only the first of several instructions is sent',
  },
  {
    file: responsesWire,
    find: "if (request.toolChoice === 'none') body.tool_choice = 'none';",
    replace: '',
    why: 'Responses: a closing call may still call tools',
  },
  {
    file: responsesWire,
    find: 'if (request.maxTokens !== undefined) body.max_output_tokens = request.maxTokens;',
    replace: '',
    why: 'Responses: the limit of a request is not sent',
  },
];

/** Mistakes of the Chat Completions wire. */
export const chatMutants: readonly Mutant[] = [
  {
    file: chatEvent,
    find: "out.text('text', text);",
    replace: "out.text('text', text);\n    out.end('complete');",
    why: 'Chat: an answer cut in its text counts as whole',
  },
  {
    file: chatEvent,
    find: "if (reason === 'length') return 'max_tokens';",
    replace: "if (reason === 'length') return 'complete';",
    why: 'Chat: an answer cut at its token limit counts as complete',
  },
  {
    file: chatEvent,
    find: "if (reason === 'content_filter' || answer.refused) return 'refusal';",
    replace: "if (reason === 'content_filter') return 'complete';",
    why: 'Chat: a filtered answer counts as complete',
  },
  {
    file: chatEvent,
    find: "return 'unknown';",
    replace: "return 'complete';",
    why: 'Chat: a reason of the future counts as a normal end',
  },
  {
    file: chatEvent,
    find: "answer.calls.size > 0 || reason === 'tool_calls' ? 'tool_use' : 'complete'",
    replace: "'complete'",
    why: 'Chat: an answer of calls counts as complete',
  },
  {
    file: chatEvent,
    find: "if (payload['error'] !== undefined && payload['error'] !== null) return failWith(payload['error'], out);",
    replace: '',
    why: 'Chat: an error inside the stream is ignored',
  },
  {
    file: chatEvent,
    find: "out.model(textIn(payload, 'model'));",
    replace: '',
    why: 'Chat: the model that answers is not told',
  },
  {
    file: chatEvent,
    find: "{ input: 'prompt_tokens', output: 'completion_tokens' }",
    replace: "{ input: 'completion_tokens', output: 'prompt_tokens' }",
    why: 'Chat: input and output tokens are swapped',
  },
  {
    file: chatEvent,
    find: "filledIn(delta, 'reasoning_content') ?? filledIn(delta, 'reasoning')",
    replace: "filledIn(delta, 'reasoning')",
    why: 'Chat: reasoning is not shown',
  },
  {
    file: chatEvent,
    find: "out.close('text');",
    replace: '',
    why: 'Chat: the text is not told as whole before the calls',
  },
  {
    file: chatCalls,
    find: 'index === undefined ? call.id === id : call.index === index,',
    replace: 'call.id === id || call.index !== undefined,',
    why: 'Chat: parallel calls run into each other',
  },
  {
    file: chatCalls,
    find: "if (input !== '') out.input(call.key, input);",
    replace: '',
    why: 'Chat: calls lose their arguments',
  },
  {
    file: chatTurn,
    find: 'tool_call_id: part.callId',
    replace: 'tool_call_id: part.toolName',
    why: 'Chat: results do not say which call they answer',
  },
  {
    file: chatTurn,
    find: 'const content = [...attached, ...said];',
    replace: 'const content = said;',
    why: 'Chat: a picture that a tool returns gets lost',
  },
  {
    file: chatTurn,
    find: "return [...messages, { role: 'user', content: plain ? only.text : content }];",
    replace: "return [{ role: 'user', content: plain ? only.text : content }, ...messages];",
    why: 'Chat: what the user says is put between calls and results',
  },
  {
    file: chatTurn,
    find: "if (part.type === 'text') text += part.text;",
    replace: "if (part.type === 'text') text = part.text;",
    why: 'Chat: only the last text of an answer goes back',
  },
  {
    file: chatTurn,
    find: 'arguments: JSON.stringify(part.arguments)',
    replace: "arguments: '{}'",
    why: 'Chat: the arguments of earlier calls are forgotten',
  },
  {
    file: chatWire,
    find: 'stream_options: { include_usage: true }',
    replace: 'stream_options: { include_usage: false }',
    why: 'Chat: the usage is not asked for',
  },
  {
    file: chatWire,
    find: "request.system.join('\\n\\n')",
    replace: "(request.system.at(-1) ?? '')",
    why: 'Chat: only the last of several instructions is sent',
  },
  {
    file: chatWire,
    find: "if (request.toolChoice === 'none') body.tool_choice = 'none';",
    replace: '',
    why: 'Chat: a closing call may still call tools',
  },
  {
    file: chatWire,
    find: 'else body.max_tokens = request.maxTokens;',
    replace: '',
    why: 'Chat: the limit of a request is not sent',
  },
  {
    file: chatWire,
    find: 'if (request.temperature !== undefined) body.temperature = request.temperature;',
    replace: 'if (request.temperature) body.temperature = request.temperature;',
    why: 'Chat: a temperature of zero is not sent',
  },
];

/** Mistakes of what both wires share. */
export const sharedMutants: readonly Mutant[] = [
  {
    file: 'src/usage.ts',
    find: "...count('cacheReadTokens', inputDetails['cached_tokens']),\n    ...count('cacheWriteTokens', inputDetails['cache_write_tokens']),",
    replace:
      "...count('cacheWriteTokens', inputDetails['cached_tokens']),\n    ...count('cacheReadTokens', inputDetails['cache_write_tokens']),",
    why: 'cache reads and cache writes are swapped',
  },
  {
    file: 'src/usage.ts',
    find: "...count('reasoningTokens', outputDetails['reasoning_tokens']),",
    replace: '',
    why: 'reasoning tokens are not told',
  },
  {
    file: 'src/media.ts',
    find: '`data:${part.mediaType};base64,${part.data}`',
    replace: '`data:image/png;base64,${part.data}`',
    why: 'every file is declared as a picture',
  },
  {
    file: 'src/fault.ts',
    find: "server_is_overloaded: 'busy',",
    replace: "server_is_overloaded: 'invalid',",
    why: 'an overload inside a stream is not tried again',
  },
  {
    file: 'src/endpoint.ts',
    find: "if (address.apiKey === undefined) delete headers['authorization'];",
    replace: "delete headers['authorization'];",
    why: 'requests go without the key',
  },
  {
    file: 'src/response-headers.ts',
    find: "requestIdHeader = 'x-request-id'",
    replace: "requestIdHeader = 'request-id'",
    why: 'the request id is looked for under another name',
  },
];

export const mutants: readonly Mutant[] = [...responsesMutants, ...chatMutants, ...sharedMutants];
