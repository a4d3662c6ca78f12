import type { Mutant } from './mutant.ts';

const connection = 'src/mcp/connection.ts';
const listed = 'src/mcp/listed-tool.ts';
const stdio = 'src/mcp/stdio-transport.ts';
const http = 'src/mcp/http-transport.ts';
const misbehaving = 'test/mcp/misbehaving.test.ts';
const lists = 'test/mcp/lists.test.ts';
const overHttp = 'test/mcp/over-http.test.ts';

/** Mistakes in what comes from servers of the Model Context Protocol. */
export const mcpMutants: readonly Mutant[] = [
  {
    file: connection,
    find: 'if (!isExpired(error)) throw',
    replace: 'if (isExpired(error)) throw',
    why: 'a call that was under way when its server ended is made again',
    breaks: ['P9'],
    by: misbehaving,
  },
  {
    file: listed,
    find: "if (trustHints !== true || !isObject(hints)) return 'once';",
    replace: "if (!isObject(hints)) return 'once';",
    why: "a server's own word about its tools counts",
    breaks: ['P9'],
    by: lists,
  },
  {
    file: 'src/mcp/mcp.ts',
    find: 'if (!this.#isAdopted) return;',
    replace: 'this.tools = [];',
    why: 'a list that changes is taken up at once',
    breaks: ['S4.11'],
    by: lists,
  },
  {
    file: 'src/mcp/mcp.ts',
    find: 'env: childEnvironment(env, own.values),',
    replace: 'env: { ...(env as Record<string, string>), ...own.values },',
    why: 'a server gets all of our environment',
    breaks: ['P19'],
    by: misbehaving,
  },
  {
    file: 'src/mcp/mcp.ts',
    find: 'return clean.replace(keyLike, mask).replace(named, `$1${mask}`);',
    replace: 'return clean;',
    why: 'keys in the last words of a server reach the model',
    breaks: ['P19'],
    by: misbehaving,
  },
  {
    file: stdio,
    find: 'const cancel = this.#runtime.timer(leaveMs, () => process.stop());',
    replace: 'const cancel = this.#runtime.timer(leaveMs, () => process.endInput());',
    why: 'a server that does not leave is waited for without end',
    breaks: ['P3'],
    by: misbehaving,
  },
  {
    file: 'src/mcp/stdio-transport.ts',
    find: 'if (this.#length > this.#maxBytes) {',
    replace: 'if (this.#length > 4 * this.#maxBytes) {',
    why: 'a message may be longer than its bound',
    breaks: ['P10'],
    by: misbehaving,
  },
  {
    file: connection,
    find: 'const options = { signal, timeout: this.callMs, onprogress: onProgress };',
    replace: 'const options = { timeout: this.callMs, onprogress: onProgress };',
    why: 'a call that is aborted goes on at the server',
    breaks: ['P3'],
    by: misbehaving,
  },
  {
    file: connection,
    find: 'this.#failures < 2 ? 0 : backoff({ baseMs: firstPauseMs, maxMs: maxPauseMs }, this.#failures - 2);',
    replace: '0;',
    why: 'a server that ends again and again is begun again at once',
    breaks: [],
    by: misbehaving,
  },
  {
    file: http,
    find: 'if (!this.#waiting.delete(id)) return;',
    replace: 'if (this.#waiting.delete(id)) return;',
    why: 'a call whose answer was cut waits for ever',
    breaks: ['P9'],
    by: overHttp,
  },
  {
    file: http,
    find: 'if (bytes <= maxMessageBytes) return controller.enqueue(value);',
    replace: 'if (bytes > 0) return controller.enqueue(value);',
    why: 'an answer over HTTP may be of any length',
    breaks: ['P10'],
    by: overHttp,
  },
  {
    file: listed,
    find: "return foreignReference(schema) ? 'its schema refers to another document' : undefined;",
    replace: 'return undefined;',
    why: 'a tool whose schema no provider can read is offered',
    breaks: [],
    by: lists,
  },
  {
    file: 'src/mcp/mcp-tool.ts',
    find: 'const problem = await checkSchema(schema, args);',
    replace: 'const problem = await checkSchema(listed.parameters, args);',
    why: 'what stands in combined parts of a schema is not checked',
    breaks: ['P9'],
    by: lists,
  },
  {
    file: listed,
    find: 'formProblem(given) ?? (await unusable(given))',
    replace: 'formProblem(given)',
    why: 'one schema that is unusable loses all tools of its server',
    breaks: ['P11'],
    by: lists,
  },
];
