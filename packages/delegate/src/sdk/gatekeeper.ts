import type { HookInput, HookJSONOutput, PermissionResult } from '@anthropic-ai/claude-agent-sdk';
import { defined } from '@cobbler/agent/values';
import type { CallDecision } from '../backend/backend.ts';
import { askForDecision } from '../backend/call-decision.ts';
import type { CallJudge } from '../backend/call-judge.ts';
import { fieldsOf, textOf } from '../events/fields.ts';
import type { ExecuteCallbacks, ToolCallContext } from '../session-agent/session-agent.ts';
import { planRefusal, planTaken } from './plan-mode.ts';

type CallContext = Pick<ToolCallContext, 'signal' | 'callId'>;

/**
 * Checks every call of one prompt. The SDK's hook receives all calls, including reads; its permission prompt receives
 * those that the program's own rules would ask about. Each call is decided once.
 *
 * In plan mode, the hook allows nothing itself, so that the program's rules apply, and the prompt allows only the end
 * of planning.
 */
export class Gatekeeper {
  readonly #canUseTool: ExecuteCallbacks['canUseTool'];
  readonly #isCancelled: () => boolean;
  readonly #judge: CallJudge;
  readonly #decided: Map<string, CallDecision> = new Map();
  #plans: boolean;

  constructor(
    plans: boolean,
    canUseTool: ExecuteCallbacks['canUseTool'],
    isCancelled: () => boolean,
    judge: CallJudge,
  ) {
    this.#plans = plans;
    this.#canUseTool = canUseTool;
    this.#isCancelled = isCancelled;
    this.#judge = judge;
  }

  /** True if a gate decides on calls. */
  get asks(): boolean {
    return this.#canUseTool !== undefined;
  }

  async hook(input: HookInput, toolUseId: string | undefined, signal: AbortSignal): Promise<HookJSONOutput> {
    if (input.hook_event_name !== 'PreToolUse') return {};
    const callId = toolUseId ?? textOf(fieldsOf(input)['tool_use_id']);
    if (this.#isCancelled()) return hookAnswer({ type: 'deny', message: 'The run was cancelled.' });
    if (this.#canUseTool === undefined) {
      this.#judge.noteOutput(input.tool_name);
      return {};
    }
    const decision = await this.#decide(input.tool_name, fieldsOf(input.tool_input), { signal, callId });
    if (decision.type === 'allow' && this.#plans) return {};
    return hookAnswer(decision);
  }

  async prompt(
    toolName: string,
    input: Record<string, unknown>,
    context: CallContext,
  ): Promise<PermissionResult> {
    const decision = await this.#answer(toolName, input, context);
    if (decision.type === 'deny') {
      const { message, interrupt } = decision;
      return { behavior: 'deny', message, ...(interrupt === true && { interrupt }) };
    }
    return { behavior: 'allow', updatedInput: decision.arguments ?? input };
  }

  async #answer(
    toolName: string,
    input: Record<string, unknown>,
    context: CallContext,
  ): Promise<CallDecision> {
    if (this.#isCancelled()) return { type: 'deny', message: 'The run was cancelled.' };
    if (this.#plans && toolName !== 'ExitPlanMode') return { type: 'deny', message: planRefusal };
    if (this.#canUseTool === undefined) {
      const message = this.#plans ? planTaken : `${toolName} needs approval, but no user can be asked.`;
      return { type: 'deny', message };
    }
    const decision = this.#decided.get(context.callId) ?? (await this.#decide(toolName, input, context));
    if (this.#plans && decision.type === 'allow') this.#plans = false;
    return decision;
  }

  async #decide(
    toolName: string,
    input: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): Promise<CallDecision> {
    // The decider can modify the object it receives. The call runs with the original arguments, or those of the
    // decision.
    const ask = () => {
      const { mustAsk, untrusted } = this.#judge.judge(toolName, structuredClone(input));
      const known = { ...context, ...defined({ mustAsk, untrusted }) };
      return this.#canUseTool?.(toolName, structuredClone(input), known);
    };
    const decision = await askForDecision(ask, toolName, context.signal);
    // Not when its result is read from the stream: the program may ask about its next call before.
    if (decision.type === 'allow') this.#judge.noteOutput(toolName);
    if (context.callId !== '') this.#decided.set(context.callId, decision);
    return decision;
  }
}

function hookAnswer(decision: CallDecision): HookJSONOutput {
  const hookEventName = 'PreToolUse';
  if (decision.type === 'deny') {
    const { message, interrupt } = decision;
    return {
      hookSpecificOutput: { hookEventName, permissionDecision: 'deny', permissionDecisionReason: message },
      ...(interrupt === true && { continue: false, stopReason: message }),
    };
  }
  const { arguments: changed } = decision;
  const allowed = {
    permissionDecision: 'allow',
    ...defined({ updatedInput: changed }),
  } as const;
  return { hookSpecificOutput: { hookEventName, ...allowed } };
}
