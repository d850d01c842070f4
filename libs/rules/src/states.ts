import { Refused } from './refused.js';

/** The states of one kind of record, and what leads from one to another. */
export interface StateTable<State extends string, Action extends string> {
  /** In the order of a record's life, for the column's CHECK and the documented enum. */
  readonly values: readonly State[];
  readonly actions: readonly Action[];
  /** The states that something leads out of, in SQL. */
  unended(column: string): string;
  /** The condition of the column's CHECK, in SQL. */
  check(column: string): string;
  /** The states in which an action is possible. */
  allowed(action: Action): readonly State[];
  /** The state that an action leads to; null if it has happened before. @throws Refused in a state in which it is not possible */
  next(action: Action, state: State): State | null;
}

/**
 * Declares the states of one kind of record once, for its rules, its table, its documentation and its tests. `later`: other
 * states in which the action has happened.
 */
export function states<const State extends string, const Action extends string>(
  values: readonly State[],
  actions: Record<Action, { from: readonly NoInfer<State>[]; to: NoInfer<State>; later?: readonly NoInfer<State>[] }>,
): StateTable<State, Action> {
  const among = (column: string, some: readonly State[]) =>
    `${column} IN (${some.map((value) => `'${value}'`).join(', ')})`;
  const leading = Object.values<{ from: readonly State[] }>(actions).flatMap(({ from }) => from);
  return {
    values,
    actions: Object.keys(actions) as Action[],
    check: (column) => among(column, values),
    unended: (column) =>
      among(
        column,
        values.filter((value) => leading.includes(value)),
      ),
    allowed: (action) => actions[action].from,
    next(action, state) {
      const { from, to, later } = actions[action];
      if (from.includes(state)) return to;
      if (state === to || later?.includes(state)) return null;
      throw Refused.invalidState(state, from);
    },
  };
}
