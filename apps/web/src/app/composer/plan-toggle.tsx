import type { VNode } from 'preact';

interface PlanToggleProps {
  readonly isOn: boolean;
  readonly set: (isOn: boolean) => void;
}

/** Turns plan mode on or off. */
export function PlanToggle({ isOn, set }: PlanToggleProps): VNode {
  return (
    <button
      type="button"
      class="quiet plan-toggle"
      aria-pressed={isOn}
      title="Plan mode: nothing changes until you approve a plan"
      onClick={() => set(!isOn)}
    >
      Plan
    </button>
  );
}
