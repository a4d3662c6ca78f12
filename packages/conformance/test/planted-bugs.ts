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
    find: 'return pending === undefined ? undefined : this.#inTime(pending).catch(failed);',
    replace:
      'return pending === undefined ? undefined : this.#inTime(pending.catch(() => store.append(sessionId, batch, { epoch: this.#epoch ?? 0 }))).catch(failed);',
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
    file: 'src/provider/exchange.ts',
    find: "this.#attempt.signal?.removeEventListener('abort', this.#onAbort);",
    replace: '',
    why: 'each request leaves a listener on the signal of its run',
  },
  {
    name: 'swallowed cancel',
    file: drive,
    find: "stop === undefined ? wanted : { type: 'finish', status: stop }",
    replace: 'wanted',
    why: 'a cancel during the decision about the end is overridden by a late success',
  },
  {
    name: 'result recorded for the wrong call',
    file: fold,
    find: 'const call = openCallAt(state, event);\n  if (call === undefined) return;\n  state.metrics = { ...state.metrics, toolMs',
    replace:
      'const call = unanswered(state)[0];\n  if (call === undefined) return;\n  state.metrics = { ...state.metrics, toolMs',
    why: 'results are assigned to the calls in the order in which they arrive',
  },
  {
    name: 'orphaned once call run again',
    file: call,
    find: "if ((open.orphaned || open.waitUntil !== undefined) && (tool?.effect ?? 'once') === 'once')",
    replace: "if ((open.orphaned || open.waitUntil !== undefined) && (tool?.effect ?? 'once') === 'read')",
    why: 'after a crash a tool that must run at most once runs twice',
  },
  {
    name: 'steering dropped',
    file: drive,
    find: 'if (!this.#log.busy && this.#state.seq === seq) this.#end(finish);',
    replace: 'this.#end(finish);',
    why: 'a message sent during the decision about the end never gets a response',
  },
  {
    name: 'usage added twice on retry',
    file: 'src/provider/model-call.ts',
    find: 'usage: answer.usage,',
    replace: 'usage: addUsage(answer.usage, account.wasted),',
    why: 'tokens wasted by failed attempts are also counted as used',
  },
  {
    name: 'publish before commit',
    file: log,
    find: 'await this.#commit(batch);\n      this.#take(batch);',
    replace: 'const pending = this.#commit(batch);\n      this.#take(batch);\n      await pending;',
    why: 'readers see an event that a crash can still take back',
  },
  {
    name: 'approval usable twice',
    file: 'src/loop/approvals.ts',
    find: 'if (this.#taken.has(approvalId)) return false;',
    replace: '',
    why: 'a second decision about the same approval counts as well',
  },
  {
    name: 'undecided call run',
    file: call,
    find: "if (approval?.decision === undefined) return { type: 'ask', ...job };",
    replace: "if (approval?.decision === undefined) return { type: 'run', ...job };",
    why: 'a call that needs an approval runs after a restart without a decision',
  },
  {
    name: 'written after the end',
    file: log,
    find: 'if (this.#closed) return false;\n',
    replace: '',
    why: 'a tool result that arrives long after the end of its run is still written',
  },
  {
    name: 'truncated answer taken',
    file: 'src/provider/exchange.ts',
    find: 'if (assembly.hasEnded) this.#succeed();\n    else',
    replace: 'if (assembly.steps > 0) this.#succeed();\n    else',
    why: 'a response that ends in the middle counts as complete',
  },
  {
    name: 'event shown twice',
    file: 'src/loop/feed.ts',
    find: '    if (this.#readers.size > 0) for (const reader of this.#readers) reader.push(event);\n',
    replace:
      '    for (const listener of this.#listeners) if (!listener.hasStopped) listener.hear(event);\n    for (const reader of this.#readers) reader.push(event);\n    if (this.#readers.size >= 0) return;\n',
    why: 'a reader created by a listener gets the current event twice',
  },
  {
    name: 'late end',
    file: drive,
    find: 'this.#log.leave();',
    replace: 'await this.#written;',
    why: 'a slow store delays the end of a run whose time limit has passed',
  },
  {
    name: 'budget spent twice',
    file: 'src/interfaces/limits.ts',
    find: 'return this.#limits.tokens - this.#tokens - this.#heldTokens;',
    replace: 'return this.#limits.tokens - this.#tokens;',
    why: 'parallel runs spend the same remaining tokens',
  },
  {
    name: 'turns spent twice',
    file: 'src/interfaces/limits.ts',
    find: 'this.#taken[what] += count;',
    replace: '',
    why: 'parallel runs take the same remaining turns',
  },
  {
    name: 'tool started after a stop',
    file: toolRun,
    find: 'returned = job.tool.execute(',
    replace: 'await undefined;\n    returned = job.tool.execute(',
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
    find: "config: closing ? { ...config.request, toolChoice: 'none' } : config.request,",
    replace: 'config: config.request,',
    why: 'a run at its limit is asked for more calls in the closing request',
  },
  {
    name: 'repeats never noticed',
    file: 'src/events/repeat-policy.ts',
    find: 'if (batch === undefined || repeats < times) return false;',
    replace: 'if (batch === undefined || repeats <= times + 1) return false;',
    why: 'the same turn is repeated until another limit ends it',
  },
  {
    name: 'steering does not count as progress',
    file: fold,
    find: '  forgetRepeats(state);\n  state.messages.push(...state.steering);',
    replace: '  state.messages.push(...state.steering);',
    why: 'a run is ended for repeats from before a steering message',
  },
  {
    name: 'output offloaded in vain',
    file: 'src/loop/tool-output.ts',
    find: 'spilled?.excerpt ?? cap(part.text, most)',
    replace: 'spilled?.excerpt ?? part.text',
    why: 'if the blob store fails, the whole output goes to the model, whatever its length',
  },
  {
    name: 'read from the beginning',
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
    why: 'a model that continues to read misses the text after the head of an output',
  },
  {
    name: 'endless compaction',
    file: 'src/loop/decide.ts',
    find: 'if (!compacted && exceedsTokens(',
    replace: 'if (exceedsTokens(',
    why: 'a conversation that stays too long is never sent again',
  },
];
