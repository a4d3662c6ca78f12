import type { Mutant } from './mutant.ts';

const connection = 'src/mcp/connection.ts';
const listed = 'src/mcp/listed-tool.ts';
const stdio = 'src/mcp/stdio-transport.ts';
const http = 'src/mcp/http-transport.ts';
const misbehaving = 'test/mcp/misbehaving.slow.test.ts';
const lists = 'test/mcp/lists.slow.test.ts';
const overHttp = 'test/mcp/over-http.test.ts';

/** Planted bugs in the code for servers of the Model Context Protocol. */
export const mcpMutants: readonly Mutant[] = [
  {
    file: connection,
    find: 'if (!isExpired(error)) throw',
    replace: 'if (isExpired(error)) throw',
    why: 'a call that was running when its server ended is repeated',
    breaks: ['P9'],
    by: misbehaving,
  },
  {
    file: listed,
    find: "if (trustHints !== true || !isObject(hints)) return 'once';",
    replace: "if (!isObject(hints)) return 'once';",
    why: "the server's own hints about its tools are trusted",
    breaks: ['P9'],
    by: lists,
  },
  {
    file: 'src/mcp/mcp.ts',
    find: 'if (!this.#isAdopted) return;',
    replace: 'this.tools = [];',
    why: 'a changed list takes effect immediately',
    breaks: ['S4.11'],
    by: lists,
  },
  {
    file: 'src/mcp/mcp.ts',
    find: 'env: childEnvironment(env, own.values),',
    replace: 'env: { ...(env as Record<string, string>), ...own.values },',
    why: 'a server gets the whole environment',
    breaks: ['P19'],
    by: misbehaving,
  },
  {
    file: 'src/mcp/mcp.ts',
    find: 'return clean.replace(keyLike, mask).replace(named, `$1${mask}`);',
    replace: 'return clean;',
    why: 'keys in the last output of a server reach the model',
    breaks: ['P19'],
    by: misbehaving,
  },
  {
    file: stdio,
    find: 'const cancel = this.#runtime.timer(leaveMs, () => process.stop());',
    replace: 'const cancel = this.#runtime.timer(leaveMs, () => process.endInput());',
    why: 'closing a server that does not end waits forever',
    breaks: ['P3'],
    by: misbehaving,
  },
  {
    file: 'src/mcp/stdio-transport.ts',
    find: 'if (this.#length > this.#maxBytes) {',
    replace: 'if (this.#length > 4 * this.#maxBytes) {',
    why: 'a message may exceed its maximum size',
    breaks: ['P10'],
    by: misbehaving,
  },
  {
    file: connection,
    find: 'const options = { signal, timeout: this.callMs, onprogress: onProgress };',
    replace: 'const options = { timeout: this.callMs, onprogress: onProgress };',
    why: 'an aborted call continues at the server',
    breaks: ['P3'],
    by: misbehaving,
  },
  {
    file: connection,
    find: 'this.#failures < 2 ? 0 : backoff({ baseMs: firstPauseMs, maxMs: maxPauseMs }, this.#failures - 2);',
    replace: '0;',
    why: 'a server that ends repeatedly is restarted immediately',
    breaks: [],
    by: misbehaving,
  },
  {
    file: http,
    find: 'if (!this.#waiting.delete(id)) return;',
    replace: 'if (this.#waiting.delete(id)) return;',
    why: 'a call whose response was cut off waits forever',
    breaks: ['P9'],
    by: overHttp,
  },
  {
    file: http,
    find: 'if (bytes <= maxMessageBytes) return controller.enqueue(value);',
    replace: 'if (bytes > 0) return controller.enqueue(value);',
    why: 'a response over HTTP may have any length',
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
    why: 'combined parts of a schema are not checked',
    breaks: ['P9'],
    by: lists,
  },
  {
    file: listed,
    find: 'formProblem(given) ?? (await schemaIssue(given))',
    replace: 'formProblem(given)',
    why: 'one invalid schema removes all tools of its server',
    breaks: ['P11'],
    by: lists,
  },
];
