import type { VNode } from 'preact';
import { useId } from 'preact/hooks';

interface ChoiceProps<Value extends string> {
  /** Meaning of the values, for screen readers. */
  readonly label: string;
  readonly values: readonly Value[];
  readonly chosen: Value;
  readonly choose: (value: Value) => void;
}

/** A row of values, one of which is chosen. The arrow keys move the choice. */
export function Choice<Value extends string>({ label, values, chosen, choose }: ChoiceProps<Value>): VNode {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {values.map((value) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={value === chosen}
            onChange={() => choose(value)}
          />
          <span class="option">{value}</span>
        </label>
      ))}
    </fieldset>
  );
}
