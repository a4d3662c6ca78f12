import type { ToolResultMessage } from '../values/message.ts';
import type { OpenCall, State } from './state.ts';

/** Creates the result of a call whose tool returned none. */
export function unrunResult(
  state: State,
  call: OpenCall,
  why: string = notRunText(state, call),
): ToolResultMessage {
  return {
    role: 'tool_result',
    toolCallId: call.part.id,
    content: [
      {
        type: 'text',
        text: call.part.problem ?? (call.started ? outcomeUnknown : `This call was not run: ${why}`),
      },
    ],
    isError: true,
    ...(!call.started && { notRun: true }),
  };
}

/** The text that the model sees for a call that started but whose end was not recorded. */
export const outcomeUnknown: string =
  'This call was started but its outcome is unknown. It may or may not have taken effect: check before trying again.';

function notRunText(state: State, call: OpenCall): string {
  if (call.approval?.decision === 'superseded') return 'a new message came first.';
  if (state.stop === 'cancelled') return 'the work was cancelled first.';
  if (state.stop === 'timeout') return 'the time limit was reached first.';
  if (state.closing !== undefined) return 'a limit was reached. Answer with what is known.';
  return 'an earlier call failed or the work stopped before this one.';
}
