/** A mistake in the loop or the kit, as somebody might make it. The simulation must find every one of them. */
export interface PlantedBug {
  readonly name: string;
  /** Below the package's folder. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** What goes wrong because of it. */
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
    why: 'of two results that come while the store is busy only the second is written',
  },
  {
    name: 'double append',
    file: log,
    find: 'return pending === undefined ? undefined : this.#inTime(pending).catch(failed);',
    replace:
      'return pending === undefined ? undefined : this.#inTime(pending.catch(() => store.append(sessionId, batch, { epoch: this.#epoch ?? 0 }))).catch(failed);',
    why: 'an append that failed is made again, though it may have been committed',
  },
  {
    name: 'leaked timer',
    file: toolRun,
    find: '      cancelTimeout();\n      cancelGrace();\n      stopWatching',
    replace: '      cancelGrace();\n      stopWatching',
    why: 'the time limit of a tool runs on after the tool has ended',
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
    why: 'a cancel that comes while the end is being decided is beaten by a late success',
  },
  {
    name: 'result recorded for the wrong call',
    file: fold,
    find: 'const call = callAt(state, event);\n  if (call === undefined || call.result !== undefined) return;\n  state.metrics = { ...state.metrics, toolMs',
    replace:
      'const call = unanswered(state)[0];\n  if (call === undefined || call.result !== undefined) return;\n  state.metrics = { ...state.metrics, toolMs',
    why: 'results are given to the calls in the order in which they come',
  },
  {
    name: 'orphaned once call run again',
    file: call,
    find: "if (open.orphaned && (tool?.effect ?? 'once') === 'once')",
    replace: "if (open.orphaned && (tool?.effect ?? 'once') === 'read')",
    why: 'after a crash a tool that must run at most once runs twice',
  },
  {
    name: 'steering dropped',
    file: drive,
    find: 'if (!this.#log.busy && this.#state.seq === seq) this.#end(finish);',
    replace: 'this.#end(finish);',
    why: 'what is said while the end is being decided is never answered',
  },
  {
    name: 'usage added twice on retry',
    file: 'src/provider/model-call.ts',
    find: 'usage: answer.usage,',
    replace: 'usage: addUsage(answer.usage, account.wasted),',
    why: 'what failed attempts have wasted is counted as used as well',
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
    why: 'a second answer to the same question counts as well',
  },
  {
    name: 'undecided call run',
    file: call,
    find: "if (approval?.decision === undefined) return { type: 'ask', ...job };",
    replace: "if (approval?.decision === undefined) return { type: 'run', ...job };",
    why: 'a call about which a person was asked runs after a restart without an answer',
  },
  {
    name: 'written after the end',
    file: log,
    find: 'if (this.#closed) return false;\n',
    replace: '',
    why: 'what a tool gives when its run is long over is still written',
  },
  {
    name: 'truncated answer taken',
    file: 'src/provider/exchange.ts',
    find: 'if (assembly.hasEnded) this.#succeed();\n    else',
    replace: 'if (assembly.steps > 0) this.#succeed();\n    else',
    why: 'an answer that ends in the middle counts as whole',
  },
  {
    name: 'event shown twice',
    file: 'src/loop/feed.ts',
    find: '    if (this.#readers.size > 0) for (const reader of this.#readers) reader.push(event);\n',
    replace:
      '    for (const listener of this.#listeners) if (!listener.hasStopped) listener.hear(event);\n    for (const reader of this.#readers) reader.push(event);\n    if (this.#readers.size >= 0) return;\n',
    why: 'a reader that a listener makes gets the event of that moment twice',
  },
  {
    name: 'late end',
    file: drive,
    find: 'this.#log.leave();',
    replace: 'await this.#written;',
    why: 'a store that takes its time holds up the end of a run whose time is over',
  },
  {
    name: 'budget spent twice',
    file: 'src/interfaces/limits.ts',
    find: 'return this.#limits.tokens - this.#tokens - this.#heldTokens;',
    replace: 'return this.#limits.tokens - this.#tokens;',
    why: 'runs side by side spend the same rest of a token limit',
  },
  {
    name: 'turns spent twice',
    file: 'src/interfaces/limits.ts',
    find: 'this.#taken[what] += count;',
    replace: '',
    why: 'runs side by side take the same rest of a limit on turns',
  },
  {
    name: 'tool begun after a stop',
    file: toolRun,
    find: 'returned = job.tool.execute(',
    replace: 'await undefined;\n    returned = job.tool.execute(',
    why: 'a tool that stops its run is followed by the tools beside it',
  },
  {
    name: 'closing answer repeated',
    file: fold,
    find: 'if (state.closing === undefined) state.stopReason = undefined;',
    replace: 'state.stopReason = undefined;',
    why: 'a run that has reached its limit is given another answer for every word that is said to it',
  },
  {
    name: 'closing request allows calls',
    file: 'src/loop/request-model.ts',
    find: "config: closing ? { ...config.request, toolChoice: 'none' } : config.request,",
    replace: 'config: config.request,',
    why: 'a run that has reached its limit is asked for more calls in closing',
  },
  {
    name: 'circles never noticed',
    file: 'src/events/repeat-policy.ts',
    find: 'if (batch === undefined || repeats < times) return false;',
    replace: 'if (batch === undefined || repeats <= times + 1) return false;',
    why: 'the same turn is taken again and again until another limit ends it',
  },
  {
    name: 'a word is no progress',
    file: fold,
    find: '  forgetRepeats(state);\n  state.messages.push(...state.steering);',
    replace: '  state.messages.push(...state.steering);',
    why: 'a run to which somebody has said something is ended for what it did before',
  },
  {
    name: 'output put away in vain',
    file: 'src/loop/tool-output.ts',
    find: 'spilled?.excerpt ?? cap(part.text, most)',
    replace: 'spilled?.excerpt ?? part.text',
    why: 'where the blobs fail the whole output goes to the model, however long',
  },
  {
    name: 'read on from the beginning',
    file: 'src/context/offload.ts',
    find: 'return passage(part.bytes, offset, part.size);',
    replace: 'return passage(part.bytes, 0, part.size);',
    why: 'what is read of an output is said to stand elsewhere',
  },
  {
    name: 'an excerpt of the wrong place',
    file: 'src/context/offload.ts',
    find: 'words(between, sizeOf(head))',
    replace: 'words(between, sizeOf(head) + 1)',
    why: 'whoever reads on misses what follows the head of an output',
  },
  {
    name: 'made smaller for ever',
    file: 'src/loop/decide.ts',
    find: 'if (!compacted && exceedsTokens(',
    replace: 'if (exceedsTokens(',
    why: 'a conversation that does not get small enough is never asked about again',
  },
];
