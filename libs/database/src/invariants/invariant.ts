/** What must be true of the rows of every organization, whoever wrote them. */
export interface Invariant {
  /** One sentence for the operator. */
  says: string;
  /** SQL for the rows that break it: `organization_id`, and their `id`. */
  broken: string;
}
