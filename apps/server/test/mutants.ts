import { access } from './access-mutants.ts';
import type { Mutant } from './mutant.ts';
import { planted } from './mutant.ts';

const agUi = planted('front-ends/ag-ui-stream', 'front-ends/ag-ui', [
  {
    find: 'return chunk.isSteer ? userMessage(chunk.id, chunk.content) : [];',
    replace: 'return userMessage(chunk.id, chunk.content);',
    why: "the client's own messages appear twice in its conversation",
  },
  {
    find: "if (chunk.kind === 'text') this.#message = chunk.id;",
    replace: '',
    why: 'a call gets a separate message instead of the text message that it belongs to',
  },
  {
    find: "      case 'answer':\n        this.#message = chunk.id;",
    replace: "      case 'answer':",
    why: 'a call of a response without text is added to an earlier response',
  },
  {
    find: 'delta: JSON.stringify(args) }',
    replace: 'delta: String(args) }',
    why: 'the arguments of a call are not JSON',
  },
  {
    find: '...(isError && { metadata: { isError } })',
    replace: '',
    why: 'a failed tool looks successful',
  },
  {
    find: 'return [resultEvent(chunk.event.id, chunk.id, chunk.event.content, chunk.event.isError)];',
    replace: 'return [resultEvent(chunk.id, chunk.id, chunk.event.content, chunk.event.isError)];',
    why: 'a result that is sent again from the log appears twice',
  },
  {
    find: 'return [leftCall(chunk)];',
    replace: 'return [];',
    why: 'a call that was not run stays open forever',
  },
  {
    find: 'id: `${approvalId}.${hash}`,',
    replace: 'id: approvalId,',
    why: 'a decision about an interrupt does not contain the hash of the arguments',
  },
  {
    find: "case 'decided':\n        this.#requests.delete(chunk.id);",
    replace: "case 'decided':",
    why: 'a decided approval is requested again when the run waits again',
  },
  {
    find: "return { ...finished, outcome: { type: 'cancelled' } };",
    replace: "return { ...finished, outcome: { type: 'success' } };",
    why: 'a cancelled run looks completed',
  },
  {
    find: "const none = all.some(({ role }) => role === 'reasoning') ? [thought] : [];",
    replace: 'const none: AgUiMessage[] = [];',
    why: 'reasoning of a discarded response stays in the conversation',
  },
  {
    find: "if (chunk.kind === 'text') owner = chunk.id;",
    replace: '',
    why: 'a snapshot puts calls into separate messages',
  },
]);

const aiSdk = planted('front-ends/ai-sdk-stream', 'front-ends/ai-sdk', [
  {
    find: 'if (!chunk.isSteer) return [start(chunk.id)];',
    replace: 'return [start(chunk.id)];',
    why: 'a steering message is not shown',
  },
  {
    find: "this.#step = 'empty';\n        return [{ type: 'reset-step' }];",
    replace: "this.#step = 'empty';\n        return [];",
    why: 'text of a failed attempt stays in the message',
  },
  {
    find: "const started = this.#step === 'empty' ? [] : [{ type: 'start-step' }];",
    replace: "const started = [{ type: 'start-step' }];",
    why: 'a retry leaves an empty step behind',
  },
  {
    find: 'toolCallId: chunk.id, approvalDescriptor, signature: hash };',
    replace: 'toolCallId: chunk.id, approvalDescriptor };',
    why: 'a decision about an approval does not contain the hash of the arguments',
  },
  {
    find: 'if (denied === true && chunk.wasAsked)',
    replace: 'if (denied === true && !chunk.wasAsked)',
    why: 'a call that the user denied looks failed',
  },
  {
    find: "if (chunk.type === 'left') return [{ type: 'tool-output-error', toolCallId, errorText: chunk.why }];",
    replace: "if (chunk.type === 'left') return [];",
    why: 'a call that was not run looks as if it were still running',
  },
  {
    find: 'messageId: `${exchangeId}-answer` }',
    replace: 'messageId: crypto.randomUUID() }',
    why: 'a message that continues after an approval gets another id',
  },
  {
    find: "if (status === 'cancelled') return [{ type: 'abort', reason: 'The run was cancelled.' }];",
    replace: '',
    why: 'a page is not informed that its run was cancelled',
  },
]);

const exchange = planted('front-ends/message-exchange', 'front-ends/ag-ui', [
  {
    find: 'return this.#isAnswered ? this.#takeSteering() : [];',
    replace: 'return this.#takeSteering();',
    why: 'a replayed steering message appears between the results of one response',
  },
  {
    find: 'return this.#calls.every(({ isDone }) => isDone) ? [result, ...this.#takeSteering()] : [result];',
    replace: 'return [result, ...this.#takeSteering()];',
    why: 'a steering message does not wait for the other calls of its response',
  },
  {
    find: 'const why = call.isStarted ?',
    replace: 'const why = !call.isStarted ?',
    why: 'a call that never ran is reported with an unknown outcome',
  },
]);

const responses = [
  ...planted('front-ends/response-stream', 'front-ends/responses', [
    {
      find: 'this.#items = this.#items.filter((item) => !this.#current.includes(item));',
      replace: '',
      why: 'discarded text stays in the response',
    },
    {
      find: "if (status === 'complete') return 'response.completed';",
      replace: "if (status !== 'failed') return 'response.completed';",
      why: 'a stream that ended early is reported as complete',
    },
    {
      find: "waiting: 'approval_required',",
      replace: '',
      why: 'a run that waits for a user looks as if it reached a limit',
    },
  ]),
  ...planted('front-ends/responses-routes', 'front-ends/responses', [
    {
      find: "return await sessionService.session(await session.fork(next - 1, token), token, 'prompt');",
      replace: 'return session;',
      why: 'continuing from an earlier response includes the later messages',
    },
    {
      find: 'key === undefined ? systemRuntime.id() : idOfKey(key, token),',
      replace: 'systemRuntime.id(),',
      why: 'a repeated request starts a second run',
    },
  ]),
  ...planted('front-ends/responses-body', 'front-ends/responses', [
    {
      find: 'if (value === undefined || value === null || asksNothing(value)) continue;',
      replace: 'continue;',
      why: 'an unsupported option is silently ignored',
    },
  ]),
];

const doors = [
  ...planted('requests/cookie', 'auth/tokens', [
    {
      find: 'if (signingKey === undefined || keyHash !== hashOf(key)) continue;',
      replace: 'if (signingKey === undefined) continue;',
      why: 'a cookie works for another client, which does not have the page key',
    },
    {
      find: 'const expected = Buffer.from(sign(`${tokenId}.${until}.${keyHash}`, signingKey));',
      replace: 'const expected = Buffer.from(signature);',
      why: 'a cookie with an invalid signature is accepted',
    },
  ]),
  ...planted('auth/auth-guard', 'auth/tokens', [
    {
      find: "(scope === 'admin' ? undefined : this.#byCookie(headers))",
      replace: 'this.#byCookie(headers)',
      why: 'a cookie can create tokens that outlive it',
    },
  ]),
  ...planted('auth/auth-guard', 'auth/tokens', [
    {
      find: 'const ends = Math.min(cookie.until, endOf(info));',
      replace: 'const ends = cookie.until + 60_000;',
      why: 'a stream outlives the cookie that opened it',
    },
  ]),
  ...planted('streams/event-stream', 'http/event-stream', [
    {
      find: 'if (this.#isClosed) this.#socket.destroy();',
      replace: 'if (this.#isClosed) return;',
      why: 'a client that does not read keeps its connection after its token has ended',
    },
  ]),
  ...planted('streams/streams', 'auth/tokens', [
    {
      find: 'setInterval(() => this.endInvalid(), checkMs).unref(),',
      replace: '',
      why: 'a stream outlives the token that opened it',
    },
  ]),
  ...planted('auth/auth-guard', 'http/attacks', [
    {
      find: "...['host', 'authorization',",
      replace: "...['authorization',",
      why: 'a proxy and the server may read different Host headers of one request',
    },
  ]),
];

const readers = [
  ...planted('sessions/broadcast', 'sessions/broadcast', [
    {
      find: 'if (!this.follows(event)) this.end();',
      replace: '',
      why: 'clients get an event that does not follow the last one they have',
    },
    {
      find: 'event.runId === this.#lastRun)',
      replace: "event.runId !== '')",
      why: 'a new client sees the end of a run that never started in the session',
    },
    {
      find: 'this.#ending = undefined;',
      replace: '',
      why: 'a new client sees an unstored end although the log continued',
    },
    {
      find: 'if (this.#lastSeq !== undefined && seq < this.#lastSeq) {',
      replace: 'if (seq < 0) {',
      why: 'clients of a deleted log stay connected and get the events of the new one',
    },
    {
      find: 'this.#lastSeq ??= seq;\n  }\n\n  #schedule',
      replace: '}\n\n  #schedule',
      why: 'events of another process are not read if nothing was published yet',
    },
  ]),
  ...planted('sessions/live-session', 'sessions/shared-store', [
    {
      find: 'event.seq > (this.broadcast.lastSeq ?? event.seq) + 1',
      replace: 'event.seq < 0',
      why: 'events that another process wrote before an event are skipped',
    },
    {
      find: 'if (this.#known.isUsed) await this.publishOthers();',
      replace: '',
      why: 'a prompt recorded by another process starts a second run under its key',
    },
  ]),
];

/** Planted bugs that only the complete client of the AI SDK reveals. */
const chat: readonly Mutant[] = [
  ...planted('front-ends/ai-sdk-stream', 'front-ends/ai-sdk-chat', [
    {
      find: 'return chunk.automaticCalls.flatMap(automaticApproval);',
      replace: 'return [];',
      why: 'a response with a call that needs no approval never continues',
    },
    {
      find: "return [{ type: 'error', errorText: cutOff }];",
      replace: 'return [];',
      why: 'a client posts a decision endlessly',
    },
  ]),
  ...planted('front-ends/message-exchange', 'front-ends/ai-sdk-chat', [
    {
      find: "return event.state === 'waiting' ? this.waits() : [];",
      replace: 'return [];',
      why: 'the response stays open while a user must decide, so that the client never sends the decision',
    },
    {
      find: 'event.partial === undefined ? this.#void() : this.#endEarly(event.partial)',
      replace: 'this.#void()',
      why: 'stop removes the text of the model',
    },
  ]),
  ...planted('front-ends/front-request', 'front-ends/ai-sdk-chat', [
    {
      find: 'answer.success && answer.data.approval.isAutomatic !== true ?',
      replace: 'answer.success ?',
      why: 'an automatic approval is treated as a decision of the user',
    },
  ]),
  ...planted('sessions/approval-service', 'front-ends/ai-sdk-chat', [
    {
      find: 'if (mayRepeat && found.by !== undefined && isSame(found, answer)) {',
      replace: 'if (mayRepeat && found.by !== undefined) {',
      why: 'a decision that contradicts an earlier one looks accepted',
    },
  ]),
  ...planted('sessions/broadcast', 'sessions/broadcast', [
    {
      find: "if (kind === 'live' && ended <= (this.#lastSeq ?? 0))",
      replace: "if (kind === 'live')",
      why: 'a stored response is sent again as the current one',
    },
  ]),
];

/** One planted bug for each requirement of the server that no other mutant breaks. */
const requirements: readonly Mutant[] = [
  {
    file: 'src/sessions/frame.ts',
    find: 'Math.floor(Date.parse(event.time) / 1000)',
    replace: 'Date.parse(event.time)',
    why: 'timestamps are in milliseconds',
    breaks: ['S4.15'],
    by: 'test/requirements-s4.test.ts',
  },
  {
    file: 'src/requests/limits.ts',
    find: 'plainHeartbeatMs: 30_000,',
    replace: 'plainHeartbeatMs: 60_000,',
    why: 'heartbeats are sent half as often',
    breaks: ['S4.16'],
    by: 'test/requirements-s4.test.ts',
  },
  {
    file: 'src/routes/event-routes.ts',
    find: "return { status: 200, json: { status: 'ok', ...(await session.prompt(body.content, token)) } };",
    replace:
      "return { status: 202, json: { status: 'ok', ...(await session.prompt(body.content, token)) } };",
    why: 'a prompt returns 202 instead of 200',
    breaks: ['S4.17'],
    by: 'test/requirements-s4.test.ts',
  },
  {
    file: 'src/sessions/frame.ts',
    find: "return statusFrame(event.status === 'waiting' ? 'waiting' : 'idle');",
    replace: "return statusFrame('waiting');",
    why: 'the end of a run is not reported as idle',
    breaks: ['S4.18'],
    by: 'test/requirements-s4.test.ts',
  },
  {
    file: 'src/routes/event-routes.ts',
    find: '        run?.cancel();\n',
    replace: '',
    why: 'cancel waits for the run instead of stopping it',
    breaks: ['S4.7'],
    by: 'test/requirements-s4.test.ts',
  },
];

/** All planted bugs, for `npm run verify -- mutants apps/server`. */
export const mutants: readonly Mutant[] = [
  ...agUi,
  ...aiSdk,
  ...exchange,
  ...responses,
  ...doors,
  ...access,
  ...readers,
  ...chat,
  ...requirements,
];
