import { visibleText } from '@cobbler/agent/events';
import type { VNode } from 'preact';
import type { ModelOption, NextModel, RunChoice } from '../session/api.ts';

interface PickerProps {
  readonly models: readonly ModelOption[];
  readonly next: NextModel;
  readonly choose: (change: RunChoice) => void;
}

/** The model and the effort of the next run. */
export function ModelPicker({ models, next, choose }: PickerProps): VNode {
  const { model, effort = '', efforts } = next;
  const isListed = models.some(({ name }) => name === model);
  return (
    <span class="picker">
      <select
        aria-label="Model of the next run"
        title="Model of the next run"
        value={model}
        onChange={({ currentTarget }) => choose({ model: currentTarget.value })}
      >
        {!isListed && <option value={model}>{visibleText(model, 'name')}</option>}
        {models.map(({ name, text = '' }) => (
          <option key={name} value={name}>
            {visibleText(text === '' ? name : `${name} (${text})`)}
          </option>
        ))}
      </select>
      {efforts.length > 0 && (
        <select
          aria-label="Effort of the next run"
          title="How much the model reasons in the next run"
          value={effort}
          onChange={({ currentTarget: { value } }) => choose({ effort: value === '' ? null : value })}
        >
          <option value="">effort</option>
          {efforts.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </span>
  );
}
