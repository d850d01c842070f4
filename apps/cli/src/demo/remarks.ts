import { FIELDS, type Field } from './homework-tasks.js';

/** A remark on a lesson. Without `by` and `field`, it fits every reviewer and lesson. */
interface Remark {
  text: string;
  by?: 'student' | 'parent';
  field?: Field;
  /** The matching tag. */
  improve?: string;
}

/** By rating. */
const REMARKS: Record<number, Remark[]> = {
  5: [
    { text: 'Explains calculus so that it finally makes sense.', field: 'mathematics' },
    { text: 'I can balance a reaction or draw the forces now without looking it up.', by: 'student', field: 'science' },
    { text: 'My paragraphs finally say something.', by: 'student', field: 'language' },
    { text: 'Turns a pile of cases and dates into an argument.', field: 'society' },
    { text: 'My program works, and I can say why.', by: 'student', field: 'computing' },
    { text: 'Patient and always prepared. Our child looks forward to the lesson.', by: 'parent' },
    { text: 'I went up from a C+ to an A in one term.', by: 'student' },
    { text: 'Very helpful before the exam.' },
  ],
  4: [
    { text: 'Great with past exams, could leave more time for questions.', improve: 'slower pace' },
    { text: 'Clear and friendly; I would like more homework.', by: 'student', improve: 'more practice questions' },
    {
      text: 'Clear and friendly; we would like to hear more often how it goes.',
      by: 'parent',
      improve: 'more feedback',
    },
  ],
  3: [
    { text: 'Good lesson, but there was no time for the second exercise.', improve: 'more practice questions' },
    { text: 'Helpful, though a little fast for me.', by: 'student', improve: 'slower pace' },
  ],
  2: [
    { text: 'It started ten minutes late and had to be hurried.', improve: 'punctuality' },
    { text: 'My last attempt came back without a comment.', by: 'student', improve: 'more feedback' },
  ],
  1: [{ text: 'Half of the lesson was about the wrong exam.', improve: 'more feedback' }],
};

/** Remarks that this reviewer could make about a lesson in this subject. */
export function remarksOn(subject: string, rating: number, reviewer: 'student' | 'parent'): Remark[] {
  return REMARKS[rating]!.filter(
    ({ by = reviewer, field = FIELDS[subject] }) => by === reviewer && field === FIELDS[subject],
  );
}

/** Remarks of another tutor who sat in on the lesson. */
export const PEER_REMARKS: Remark[] = [
  { text: 'Sat in on this one: calm, well paced, good questions.' },
  { text: 'The worked examples carried it.' },
];

export const POSITIVE_TAGS = ['clear explanations', 'patient', 'well prepared', 'encouraging', 'good resources'];
