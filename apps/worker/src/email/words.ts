/** The texts of one kind of mail. The frame around them is the same for all. */
export interface Words {
  subject: string;
  /** Why the person gets this. */
  reason: string;
  /** The text of the link, if the mail has one. */
  action: string;
  /** What happens if the person does nothing. */
  otherwise: string;
}
