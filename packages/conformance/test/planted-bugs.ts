/** A planted bug in the loop or in `createAgent`. The simulation must detect every one. */
export interface PlantedBug {
  readonly name: string;
  /** Path within the package. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The consequence of the bug. */
  readonly why: string;
}

const log = 'src/loop/log.ts';
const drive = 'src/loop/driver.ts';
const call = 'src/loop/call-tools.ts';
const plan = 'src/loop/plan-call.ts';
const toolRun = 'src/loop/tool-run.ts';
const fold = 'src/events/fold.ts';

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'lost result',
    file: log,
    find: 'this.#queue.push(...events);',
    replace: 'this.#queue = [...events];',
    why: 'of two results that arrive while the store is busy, only the second is written',
  },
  {
    name: 'double append',
    file: log,
    find: 'return pending === undefined ? undefined : this.#acceptedInTime(pending);',
    replace:
      'return pending === undefined ? undefined : this.#acceptedInTime(pending.catch(() => store.append(sessionId, batch, { epoch: this.#epoch ?? 0 })));',
    why: 'a failed append is repeated, although it may have been committed',
  },
  {
    name: 'leaked timer',
    file: toolRun,
    find: '      cancelTimeout();\n      cancelGrace();\n      stopWatching',
    replace: '      cancelGrace();\n      stopWatching',
    why: 'the time limit of a tool continues after the tool has ended',
  },
  {
    name: 'leaked listener',
    file: 'src/provider/create-agent.ts',
    find: "signal.removeEventListener('abort', abort);",
    replace: '',
    why: 'each request leaves a listener on the signal of its context',
  },
  {
    name: 'swallowed cancel',
    file: 'src/loop/ending-error.ts',
    find: "stop === undefined ? wanted : { type: 'finish', status: stop }",
    replace: 'wanted',
    why: 'a cancel during the decision about the end is overridden by a late success',
  },
  {
    name: 'result recorded for the wrong call',
    file: fold,
    find: 'const call = state.calls[placeOf(state, event)];\n  if (call === undefined || call.result !== undefined) return;\n  state.metrics = { ...state.metrics, toolMs',
    replace:
      'const call = unanswered(state)[0];\n  if (call === undefined) return;\n  state.metrics = { ...state.metrics, toolMs',
    why: 'results are assigned to the calls in the order in which they arrive',
  },
  {
    name: 'orphaned call with the effect once runs again',
    file: plan,
    find: "if ((call.orphaned || call.waitUntil !== undefined) && (tool?.effect ?? 'once') === 'once')",
    replace: "if ((call.orphaned || call.waitUntil !== undefined) && (tool?.effect ?? 'once') === 'read')",
    why: 'after a crash a tool that must run at most once runs twice',
  },
  {
    name: 'steering dropped',
    file: drive,
    find: 'if (!this.log.busy && this.state.seq === seq) this.#end(finish);',
    replace: 'this.#end(finish);',
    why: 'a message sent during the decision about the end never gets a response',
  },
  {
    name: 'usage added twice on retry',
    file: 'src/provider/response/complete-response.ts',
    find: 'usage: Object.freeze(usage.total()),',
    replace:
      'usage: Object.freeze({ ...usage.total(), inputTokens: usage.total().inputTokens + wasted.inputTokens }),',
    why: 'tokens wasted by failed attempts are also counted as used',
  },
  {
    name: 'event published before its commit',
    file: log,
    find: 'await this.#commit(batch);\n      this.#take(batch);',
    replace: 'const pending = this.#commit(batch);\n      this.#take(batch);\n      await pending;',
    why: 'readers see an event that a crash can still undo',
  },
  {
    name: 'approval usable twice',
    file: 'src/run/approvals.ts',
    find: 'if (this.#taken.has(approvalId)) return false;',
    replace: '',
    why: 'a second decision about the same approval is accepted',
  },
  {
    name: 'call runs without a decision',
    file: 'src/loop/ask-user.ts',
    find: "if (approval.decision === undefined) return { ...job, type: 'ask' };",
    replace: "if (approval.decision === undefined) return { ...job, type: 'run' };",
    why: 'a call that needs an approval runs after a restart without a decision',
  },
  {
    name: 'result written after the end',
    file: log,
    find: 'if (this.closed) return false;\n',
    replace: '',
    why: 'a tool result that arrives long after the end of its run is still written',
  },
  {
    name: 'truncated response accepted',
    file: 'src/provider/exchange.ts',
    find: 'if (this.#assembly.hasEnded) return this.#succeed();',
    replace: 'if (this.#assembly.steps > 0) return this.#succeed();',
    why: 'a response that ends in the middle counts as complete',
  },
  {
    name: 'event emitted twice',
    file: 'src/run/feed.ts',
    find: '    if (this.#readers !== undefined) for (const reader of this.#readers) reader.push(event);\n',
    replace:
      '    for (const listener of this.#listeners) if (!listener.hasStopped) listener.handle(event);\n    for (const reader of this.#readers ?? []) reader.push(event);\n    if (event !== undefined) return;\n',
    why: 'a reader created by a listener gets the current event twice',
  },
  {
    name: 'late end',
    file: drive,
    find: 'this.log.leave();',
    replace: 'await this.#written;',
    why: 'a slow store delays the end of a run whose time limit has passed',
  },
  {
    name: 'budget spent twice',
    file: 'src/interfaces/budget.ts',
    find: 'this.#briefTokens += briefTokens;',
    replace: 'this.#heldTokens -= tokens;',
    why: 'parallel runs spend the same remaining tokens',
  },
  {
    name: 'turns spent twice',
    file: 'src/interfaces/budget.ts',
    find: 'this.#taken[what] += count;',
    replace: '',
    why: 'parallel runs take the same remaining turns',
  },
  {
    name: 'tool started after a stop',
    file: toolRun,
    find: 'returned = job.tool.execute(job.valid, contextOf(run, job, stop, { ask, wait }));',
    replace:
      'returned = Promise.resolve().then(() => job.tool.execute(job.valid, contextOf(run, job, stop, { ask, wait })));',
    why: 'after a tool stops its run, parallel tools still start',
  },
  {
    name: 'closing response repeated',
    file: fold,
    find: 'if (state.closing === undefined) state.stopReason = undefined;',
    replace: 'state.stopReason = undefined;',
    why: 'a run at its limit gets another response for every steering message',
  },
  {
    name: 'closing request allows calls',
    file: 'src/loop/request-model.ts',
    find: "isClosing ? { ...run.config.request, toolChoice: 'none' } : run.config.request",
    replace: 'run.config.request',
    why: 'a run at its limit is asked for more calls in the closing request',
  },
  {
    name: 'repeated turns not detected',
    file: 'src/events/repeat-policy.ts',
    find: 'if (batch === undefined || repeats < times) return false;',
    replace: 'if (batch === undefined || repeats <= times + 1) return false;',
    why: 'the same turn is repeated until another limit ends it',
  },
  {
    name: 'steering does not count as progress',
    file: fold,
    find: '  forgetRepeats(state);\n  for (const message of state.steering)',
    replace: '  for (const message of state.steering)',
    why: 'a run is ended for repeats from before a steering message',
  },
  {
    name: 'output not truncated if offloading fails',
    file: 'src/loop/tool-output.ts',
    find: 'excerpt || cap(part.text, maxBytes)',
    replace: 'excerpt || part.text',
    why: 'if the blob store fails, the model receives the whole output, whatever its length',
  },
  {
    name: 'offset of a read ignored',
    file: 'src/context/offload.ts',
    find: 'return passage(part.bytes, offset, part.size);',
    replace: 'return passage(part.bytes, 0, part.size);',
    why: 'a part of an output is returned with the wrong offset',
  },
  {
    name: 'excerpt with a wrong offset',
    file: 'src/context/offload.ts',
    find: 'words(between, byteLength(head))',
    replace: 'words(between, byteLength(head) + 1)',
    why: 'a model that reads the rest of an output misses the text after its head',
  },
  {
    name: 'endless compaction',
    file: 'src/loop/decide.ts',
    find: 'if (!compacted && exceedsTokens(',
    replace: 'if (exceedsTokens(',
    why: 'a conversation that is still too long after compaction is never sent',
  },
  {
    name: 'response without its end accepted after a complete call',
    file: 'src/provider/exchange.ts',
    find: 'if (this.#assembly.hasEnded) return this.#succeed();',
    replace: "this.#assembly.end('tool_use');\n      if (this.#assembly.hasEnded) return this.#succeed();",
    why: 'a response that stops between two blocks counts as complete',
  },
  {
    name: 'text of a failed attempt kept',
    file: 'src/run/response-so-far.ts',
    find: "case 'retry':\n        return this.#clear();",
    replace: "case 'retry':\n        return;",
    why: 'the text of a failed attempt is stored and shown with that of the next one',
  },
  {
    name: 'partial text lost',
    file: 'src/loop/request-model.ts',
    find: '...(partial.length > 0 && { partial }),',
    replace: '',
    why: 'the text that users saw before a response ended early is not in the log',
  },
  {
    name: 'stream repeats a failed attempt',
    file: 'src/run/run-text.ts',
    find: "if (event.type === 'retry' || event.type === 'ask_failed') this.#restart();",
    replace: "if (event.type === 'ask_failed') this.#restart();",
    why: 'the text of a run contains the text of an attempt that failed',
  },
  {
    name: 'start of a call not durable',
    file: call,
    find: "durable ||= plan.tool.effect !== 'read';",
    replace: '',
    why: 'after a power failure a tool that must run at most once runs twice',
  },
  {
    name: 'start of an idempotent call not durable',
    file: call,
    find: "durable ||= plan.tool.effect !== 'read';",
    replace: "durable ||= (plan.tool.effect ?? 'once') === 'once';",
    why: 'after a power failure another call gets the idempotency key of a lost one',
  },
  {
    name: 'append after a failed append',
    file: log,
    find: 'if (this.failure !== undefined || this.#epoch === undefined) return undefined;',
    replace: 'if (this.#epoch === undefined) return undefined;',
    why: 'events are appended although it is unknown whether the ones before them were stored',
  },
  {
    name: 'failed read treated as an empty session',
    file: 'src/store/open-session.ts',
    find: 'const events = await attempt(() => store.read(sessionId, afterSeq, limit));',
    replace: 'const events = await attempt(() => store.read(sessionId, afterSeq, limit)).catch(() => []);',
    why: 'a run starts from the beginning in a session that it could not read',
  },
  {
    name: 'repair leaves a run open',
    file: 'src/events/repair-log.ts',
    find: 'events.push({ v, seq, id, time, runId, ...ending(state) });',
    replace: '',
    why: 'a repaired log ends in the middle of a run',
  },
  {
    name: 'repair drops events after a gap',
    file: 'src/events/repair-log.ts',
    find: 'result.push(entry);',
    replace: 'if (seq === last + 1) result.push(entry);',
    why: 'one lost event loses all later ones',
  },
  {
    name: 'damaged log imported',
    file: 'src/store/session-file.ts',
    find: 'if (first !== undefined) throw damagedError(',
    replace: 'if (events.length === 0 && first !== undefined) throw damagedError(',
    why: 'a log with missing events is imported without an error',
  },
  {
    name: 'late reader misses the response so far',
    file: 'src/run/feed.ts',
    find: 'const reader = new Reader(this.#soFar, ',
    replace: 'const reader = new Reader([...this.#past], ',
    why: 'a reader that joins in the middle of a response receives only the end of it',
  },
  {
    name: 'response so far has only its first chunk',
    file: 'src/run/response-so-far.ts',
    find: 'if (this.#characters <= maxCharacters) latest.text += text;',
    replace: '',
    why: 'late readers, and the log of a failed response, get only the first chunk of the text',
  },
  {
    name: 'late reader misses earlier events',
    file: 'src/run/feed.ts',
    find: 'this.#past.push(event);',
    replace: "if (event.type !== 'tool_result') this.#past.push(event);",
    why: 'a reader that joins in the middle of a run does not receive earlier results',
  },
  {
    name: 'reader created after the end never ends',
    file: 'src/run/feed.ts',
    find: 'if (this.#ended) reader.end();\n    else this.#readers.add(reader);',
    replace: 'this.#readers.add(reader);',
    why: 'a reader that joins after the end of a run waits forever',
  },
  {
    name: 'listener cannot be removed',
    file: 'src/run/feed.ts',
    find: '      own.hasStopped = true;\n      this.#listeners = this.#listeners.filter((other) => other !== own);\n',
    replace: '',
    why: 'a removed listener still receives events',
  },
];
