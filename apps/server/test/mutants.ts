/** A change that makes what front ends are told wrong, or lets in what must stay out. Tests must notice every one of them. */
export interface Mutant {
  /** Below the folder of the server. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What is wrong with it. */
  readonly why: string;
  /** Which requirements it breaks; none where something without a number is broken, as the fold of a front end. */
  readonly breaks: readonly string[];
  /** What has to notice it: a file of unit tests. */
  readonly by: string;
}

type Planted = Omit<Mutant, 'breaks' | 'by' | 'file'>;

const planted = (file: string, by: string, some: readonly Planted[]): Mutant[] =>
  some.map((one) => ({ ...one, file: `src/${file}.ts`, by: `test/${by}.test.ts`, breaks: [] }));

const agUi = planted('front-ends/ag-ui-stream', 'front-ends/ag-ui', [
  {
    find: 'return piece.isSteer ? userMessage(piece.id, piece.content) : [];',
    replace: 'return userMessage(piece.id, piece.content);',
    why: 'what a client says stands twice in its conversation',
  },
  {
    find: "if (piece.kind === 'text') this.#message = piece.id;",
    replace: '',
    why: 'a call stands in a message of its own, not in the text that it belongs to',
  },
  {
    find: "      case 'answer':\n        this.#message = piece.id;",
    replace: "      case 'answer':",
    why: 'a call of an answer without text is added to an earlier answer',
  },
  {
    find: 'delta: JSON.stringify(args) }',
    replace: 'delta: String(args) }',
    why: 'the arguments of a call are no JSON',
  },
  {
    find: '...(isError && { metadata: { isError } })',
    replace: '',
    why: 'a failed tool looks like one that did its work',
  },
  {
    find: 'return [result(piece.event.id, piece.id, piece.event.content, piece.event.isError)];',
    replace: 'return [result(piece.id, piece.id, piece.event.content, piece.event.isError)];',
    why: 'a result that is told again, from the log, is there twice',
  },
  {
    find: 'return [leftCall(piece)];',
    replace: 'return [];',
    why: 'a call that was not run stays open for ever',
  },
  {
    find: 'id: `${approvalId}.${hash}`,',
    replace: 'id: approvalId,',
    why: 'an answer to an interrupt does not name what was shown',
  },
  {
    find: 'this.#asked.delete(piece.approvalId);',
    replace: '',
    why: 'what was answered is asked again when the run waits once more',
  },
  {
    find: "return { ...finished, outcome: { type: 'cancelled' } };",
    replace: "return { ...finished, outcome: { type: 'success' } };",
    why: 'a cancelled run looks like one that was completed',
  },
  {
    find: "const none = all.some(({ role }) => role === 'reasoning') ? [thought] : [];",
    replace: 'const none: AgUiMessage[] = [];',
    why: 'reasoning of an answer that was taken back stays in the conversation',
  },
  {
    find: "if (piece.kind === 'text') owner = piece.id;",
    replace: '',
    why: 'a snapshot puts calls into a message of their own',
  },
]);

const aiSdk = planted('front-ends/ai-sdk-stream', 'front-ends/ai-sdk', [
  {
    find: 'if (!piece.isSteer) return [start(piece.id)];',
    replace: 'return [start(piece.id)];',
    why: 'what steers a run is not shown',
  },
  {
    find: "this.#step = 'empty';\n        return [{ type: 'reset-step' }];",
    replace: "this.#step = 'empty';\n        return [];",
    why: 'what a failed attempt had said stays in the message',
  },
  {
    find: "const begun = this.#step === 'empty' ? [] : [{ type: 'start-step' }];",
    replace: "const begun = [{ type: 'start-step' }];",
    why: 'a retry leaves an empty step behind',
  },
  {
    find: 'toolCallId: piece.id, approvalDescriptor, signature: hash };',
    replace: 'toolCallId: piece.id, approvalDescriptor };',
    why: 'an answer to an approval does not name what was shown',
  },
  {
    find: 'if (denied === true && piece.wasAsked)',
    replace: 'if (denied === true && !piece.wasAsked)',
    why: 'a call that somebody denied looks like one that failed',
  },
  {
    find: "if (piece.type === 'left') return [{ type: 'tool-output-error', toolCallId, errorText: piece.why }];",
    replace: "if (piece.type === 'left') return [];",
    why: 'a call that was not run looks as if it ran for ever',
  },
  {
    find: 'messageId: `${exchangeId}-answer` }',
    replace: 'messageId: crypto.randomUUID() }',
    why: 'a message that goes on after an approval is another one',
  },
  {
    find: "if (status === 'cancelled') return [{ type: 'abort', reason: 'The run was cancelled.' }];",
    replace: '',
    why: 'a page does not hear that its run was cancelled',
  },
]);

const exchange = planted('front-ends/message-exchange', 'front-ends/ag-ui', [
  {
    find: 'return this.#isAnswered ? this.#steered() : [];',
    replace: 'return this.#steered();',
    why: 'what steers stands between the results of one answer when it is read again',
  },
  {
    find: 'return this.#calls.every(({ isDone }) => isDone) ? [result, ...this.#steered()] : [result];',
    replace: 'return [result, ...this.#steered()];',
    why: 'what steers does not wait for the other calls of its answer',
  },
  {
    find: 'const why = call.isStarted ?',
    replace: 'const why = !call.isStarted ?',
    why: 'of a call that never ran it is said that nobody knows what came of it',
  },
]);

const responses = [
  ...planted('front-ends/response-stream', 'front-ends/responses', [
    {
      find: 'this.#items = this.#items.filter((item) => !this.#current.includes(item));',
      replace: '',
      why: 'what was streamed and taken back stands in the response',
    },
    {
      find: "if (status === 'complete') return 'response.completed';",
      replace: "if (status !== 'failed') return 'response.completed';",
      why: 'a stream that ended early says that it is complete',
    },
    {
      find: "waiting: 'approval_required',",
      replace: '',
      why: 'a run that waits for a person looks like one that reached a limit',
    },
  ]),
  ...planted('front-ends/responses-routes', 'front-ends/responses', [
    {
      find: 'return next === undefined ? session : await desk.session(await session.fork(next - 1));',
      replace: 'return session;',
      why: 'going on from an earlier response goes on after what came later',
    },
    {
      find: 'desk.always(key === undefined ? systemRuntime.id() : `openai-${key}`)',
      replace: 'desk.always(systemRuntime.id())',
      why: 'a request that is sent again begins a second run',
    },
  ]),
  ...planted('front-ends/responses-body', 'front-ends/responses', [
    {
      find: 'if (value === undefined || value === null || asksNothing(value)) continue;',
      replace: 'continue;',
      why: 'what cannot be served is left out without a word',
    },
  ]),
];

const doors = [
  ...planted('requests/cookie', 'auth/tokens', [
    {
      find: 'if (signingKey === undefined || keyHash !== hashOf(key)) continue;',
      replace: 'if (signingKey === undefined) continue;',
      why: 'a cookie works for another client, which has no key of the page',
    },
    {
      find: 'const expected = Buffer.from(signed(`${tokenId}.${until}.${keyHash}`, signingKey));',
      replace: 'const expected = Buffer.from(signature);',
      why: 'a cookie that nobody signed is accepted',
    },
  ]),
  ...planted('http/http-listener', 'auth/tokens', [
    {
      find: 'doorkeeper.identify(request, scope, !tokenOnly)',
      replace: 'doorkeeper.identify(request, scope, true)',
      why: 'a cookie makes tokens that outlive it',
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
      why: 'a reader that takes nothing keeps its connection after its token has ended',
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
      why: 'readers get an event that does not follow what they have',
    },
    {
      find: 'event.runId === this.#lastRun)',
      replace: "event.runId !== '')",
      why: 'who comes to a session sees the end of a run that never began in it',
    },
    {
      find: 'this.#ending = undefined;',
      replace: '',
      why: 'who comes to a session sees an end after which its log went on',
    },
    {
      find: 'if (this.#lastSeq !== undefined && seq < this.#lastSeq) {',
      replace: 'if (seq < 0) {',
      why: 'readers of a log that was deleted stay, and get the events of the new one',
    },
    {
      find: 'this.#lastSeq ??= seq;\n  }\n\n  #schedule',
      replace: '}\n\n  #schedule',
      why: 'what another process wrote is not looked for where nothing was shown yet',
    },
  ]),
  ...planted('sessions/live-session', 'sessions/shared-store', [
    {
      find: 'event.seq > (this.broadcast.lastSeq ?? event.seq) + 1',
      replace: 'event.seq < 0',
      why: 'what another process wrote before an event is left out',
    },
    {
      find: 'if (this.#reading !== undefined) await this.showOthers();',
      replace: '',
      why: 'a prompt that another process took begins a second run under its key',
    },
  ]),
];

/** Mistakes that only the whole client of the AI SDK shows. */
const chat: readonly Mutant[] = [
  ...planted('front-ends/ai-sdk-stream', 'front-ends/ai-sdk-chat', [
    {
      find: 'return piece.unasked.flatMap(automatic);',
      replace: 'return [];',
      why: 'an answer with a call that needs no person never continues',
    },
    {
      find: "return [{ type: 'error', errorText: cutOff }];",
      replace: 'return [];',
      why: 'a client posts a decision without end',
    },
  ]),
  ...planted('front-ends/message-exchange', 'front-ends/ai-sdk-chat', [
    {
      find: "return event.state === 'waiting' ? this.waits() : [];",
      replace: 'return [];',
      why: 'the response stays open while a person is asked, so that the client never answers',
    },
    {
      find: 'event.partial === undefined ? this.#void() : this.#endEarly(event.partial)',
      replace: 'this.#void()',
      why: 'stop takes away what the model said',
    },
  ]),
  ...planted('front-ends/outgoing-body', 'front-ends/ai-sdk-chat', [
    {
      find: 'answer.success && answer.data.approval.isAutomatic !== true ?',
      replace: 'answer.success ?',
      why: 'a call that needs no person is answered as if one had been asked',
    },
  ]),
  ...planted('sessions/approval-service', 'front-ends/ai-sdk-chat', [
    {
      find: 'if (mayRepeat && found.by !== undefined && isSame(found, answer)) {',
      replace: 'if (mayRepeat && found.by !== undefined) {',
      why: 'a decision that differs from the one that was made looks taken',
    },
  ]),
  ...planted('sessions/broadcast', 'sessions/broadcast', [
    {
      find: "if (kind === 'live' && ended <= (this.#lastSeq ?? 0))",
      replace: "if (kind === 'live')",
      why: 'an answer that the log has is shown once more, as one that is being given',
    },
  ]),
];

/** One mistake for each requirement of the server that no other mutant breaks. */
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
    why: 'a heartbeat comes half as often',
    breaks: ['S4.16'],
    by: 'test/requirements-s4.test.ts',
  },
  {
    file: 'src/routes/event-routes.ts',
    find: "return { status: 200, json: { status: 'ok', ...(await session.prompt(body.content)) } };",
    replace: "return { status: 202, json: { status: 'ok', ...(await session.prompt(body.content)) } };",
    why: 'a prompt is answered with another status',
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

/** Every planted mistake, for `npm run verify -- mutants apps/server`. */
export const mutants: readonly Mutant[] = [
  ...agUi,
  ...aiSdk,
  ...exchange,
  ...responses,
  ...doors,
  ...readers,
  ...chat,
  ...requirements,
];
