import type { ReferenceTag } from './http/openapi/document.js';

/** The reference's groups of operations: by the first segment of their paths, in the order of the contract. */
export const REFERENCE_TAGS: ReferenceTag[] = Object.entries<[title: string, description: string]>({
  ping: ['Ping', 'Check that a key works.'],
  me: ['Me', 'The organization and the scopes of a key.'],
  users: ['Bulk invite', 'Create or invite up to 100 students, tutors and parents in one request.'],
  invites: ['Invites', 'Join links and codes, for one person or for many.'],
  org: ['Organization', 'The permanent join links of the organization.'],
  classrooms: ['Classrooms', 'Add tutors and students to classrooms.'],
  homework: ['Homework', 'Assignments for students, classrooms and groups.'],
  sessions: ['Sessions', 'Lessons, with their tutors and students.'],
  'session-feedback': ['Session feedback', 'What students and parents say about lessons.'],
  students: ['Students', 'Students of the organization, whether pending, accepted or archived.'],
  tutors: ['Tutors', 'Owners, admins and tutors of the organization, and the public reviews of tutors.'],
  results: ['Results', 'Attempts at exams and exercises.'],
  adjustments: ['Adjustments', 'Payroll corrections: additions and deductions.'],
  conversations: ['Conversations', 'Message threads, without their messages.'],
  'blog-posts': ['Blog posts', 'Drafts, scheduled posts and published posts.'],
  'blog-images': ['Blog images', 'Images for blog posts.'],
  'student-groups': ['Student groups', 'A student group with its members.'],
  groups: ['Group members', 'Add tutors and students to student groups.'],
  parents: ['Parents', 'Parents, the children they are linked to, and what they owe.'],
  payments: ['Payments', 'Payments by card, by bank transfer, in cash or made elsewhere.'],
  'request-log': ['Request log', "What the organization's API keys requested in the last 7 days."],
  reports: ['Reports', 'Key figures for today and this week.'],
}).map(([name, [title, description]]) => ({ name, 'x-displayName': title, description }));
