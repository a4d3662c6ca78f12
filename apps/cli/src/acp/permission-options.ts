import type { PermissionOption, RequestPermissionOutcome } from '@agentclientprotocol/sdk';
import type { RuledCall } from '../config/permission-rule.ts';
import { ruleToOffer, widerRule } from '../config/permission-rule.ts';

/** A user's decision about a call. */
export type PermissionChoice =
  | { readonly type: 'allow'; readonly rule?: string }
  | { readonly type: 'deny' }
  | { readonly type: 'cancel' };

const always = 'always ';

/**
 * The choices offered to the user, the narrowest rule first. The id of an "always" is the rule to store. A call that
 * the editor does not show completely can only be denied.
 */
export function permissionOptions(call: RuledCall, isWhole: boolean): PermissionOption[] {
  const deny: PermissionOption = { optionId: 'deny', name: 'Deny', kind: 'reject_once' };
  if (!isWhole) return [deny];
  const rules = [ruleToOffer(call), widerRule(call)].filter((rule) => rule !== undefined);
  return [
    { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
    ...rules.map((rule): PermissionOption => {
      return { optionId: always + rule, name: `Always allow ${rule}`, kind: 'allow_always' };
    }),
    deny,
  ];
}

/** The decision for a chosen option. An option that was not offered denies. */
export function choiceOf(
  outcome: RequestPermissionOutcome,
  offered: readonly PermissionOption[],
): PermissionChoice {
  if (outcome.outcome === 'cancelled') return { type: 'cancel' };
  const { optionId } = outcome;
  const option = offered.find((one) => one.optionId === optionId);
  if (option?.kind === 'allow_once') return { type: 'allow' };
  if (option?.kind === 'allow_always') return { type: 'allow', rule: optionId.slice(always.length) };
  return { type: 'deny' };
}
