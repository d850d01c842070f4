/** A valid body for each write, by operation. It refers to the school's own records, and every text is a canary. */
export const BODIES: Record<string, (ids: Record<string, string>) => object | undefined> = {
  'POST /v1/invites': () => ({ scope: 'organization', email: 'canary@canary.example' }),
  'POST /v1/classrooms/:classroom_id/tutors': ({ tutor_id }) => ({ user_id: tutor_id }),
  'POST /v1/classrooms/:classroom_id/students': ({ student_id }) => ({ user_id: student_id }),
  'POST /v1/groups/:group_id/students': ({ student_id }) => ({ user_id: student_id }),
  'POST /v1/groups/:group_id/tutors': ({ tutor_id }) => ({ user_id: tutor_id }),
  'POST /v1/users/bulk-invite': () => ({
    users: [
      {
        type: 'student', first_name: 'Canary', last_name: 'Canary', email: 'bulk@canary.example', phone: '0400 canary',
        parent: { first_name: 'Canary', last_name: 'Canary', email: 'bulkparent@canary.example' },
      },
      { type: 'tutor', first_name: 'Canary', last_name: 'Canary', email: 'bulktutor@canary.example', bio: 'Canary' },
    ],
  }), // prettier-ignore
  'POST /v1/students': () => ({ first_name: 'Canary', last_name: 'Canary', email: 'student@canary.example' }),
  'POST /v1/tutors': () => ({ first_name: 'Canary', last_name: 'Canary', email: 'tutor@canary.example' }),
  'POST /v1/parents': () => ({ first_name: 'Canary', last_name: 'Canary', email: 'parent@canary.example' }),
  'PATCH /v1/students/:student_id': () => ({ first_name: 'Canary' }),
  'POST /v1/students/:student_id/send-invite': () => undefined,
  'POST /v1/parents/:parent_id/send-invite': () => undefined,
  'POST /v1/parents/:parent_id/link-student': ({ student_id }) => ({ student_id }),
  'POST /v1/blog-posts': () => ({ title: 'Canary', slug: 'canary', content: 'canary', author: 'Canary' }),
  'PATCH /v1/blog-posts/:post_id': () => ({ title: 'Canary' }),
  'DELETE /v1/blog-posts/:post_id': () => undefined,
};

/** More bodies for operations whose variants refer to records in other fields. */
export const MORE_BODIES: Record<string, ((ids: Record<string, string>) => object)[]> = {
  'POST /v1/invites': [
    ({ classroom_id }) => ({ scope: 'classroom', classroom_id }),
    ({ group_id }) => ({ scope: 'group', group_id }),
    ({ tutor_id, subject_id }) => ({ scope: 'tutor_student', tutor_id, subject_id }),
    ({ tutor_id }) => ({ scope: 'tutor_student', tutor_id, email: 'canary@canary.example' }),
    ({ student_id }) => ({ scope: 'parent', student_id }),
  ],
};
