import { defined } from '../values/defined.ts';
import { invalidValue } from '../values/invalid-value.ts';
import { isObject } from '../values/json.ts';

/** A user's decision about an approval. */
export interface ApprovalDecision {
  readonly decision: 'allow' | 'deny';
  /** The reason that the model sees, if the decision is `deny`. */
  readonly message?: string;
}

/** A user's decision, with the id of its approval. */
export interface NamedDecision extends ApprovalDecision {
  readonly approvalId: string;
}

/**
 * Reads a decision about an approval. Anything that is not clearly an allow or a deny is rejected.
 * @throws AgentError `invalid`, code `bad_decision`.
 */
export function readDecision(value: unknown, where = 'answer'): ApprovalDecision {
  const { decision, message }: Record<string, unknown> = isObject(value) ? value : {};
  if (decision !== 'allow' && decision !== 'deny')
    throw invalidValue('bad_decision', `${where}.decision`, decision, 'Use "allow" or "deny"');
  if (message !== undefined && typeof message !== 'string')
    throw invalidValue('bad_decision', `${where}.message`, message, 'Use a string, or leave it out');
  return { decision, ...defined({ message }) };
}

/**
 * Reads decisions about several approvals.
 * @throws AgentError `invalid`, code `bad_decision`.
 */
export function readDecisions(value: unknown): NamedDecision[] {
  if (!Array.isArray(value)) throw invalidValue('bad_decision', 'answers', value, 'Use an array');
  return value.map((answer: unknown, index) => {
    const where = `answers[${index}]`;
    const approvalId = isObject(answer) ? answer['approvalId'] : undefined;
    if (typeof approvalId !== 'string')
      throw invalidValue(
        'bad_decision',
        `${where}.approvalId`,
        approvalId,
        'Use the approvalId of the approval request',
      );
    return { approvalId, ...readDecision(answer, where) };
  });
}
