#include "owner.h"
#include <grp.h>
#include <pwd.h>
#include <string.h>

int cowner_is_private_group(unsigned group) {
    char user_text[16384], group_text[16384];
    struct passwd user, *found_user = NULL;
    struct group members, *found_group = NULL;
    if (getpwuid_r(geteuid(), &user, user_text, sizeof user_text, &found_user) != 0 || !found_user) return 0;
    if (user.pw_gid != group) return 0;
    if (getgrgid_r(group, &members, group_text, sizeof group_text, &found_group) != 0 || !found_group) return 0;
    if (strcmp(user.pw_name, members.gr_name) != 0) return 0;
    for (char **name = members.gr_mem; *name; name++) {
        if (strcmp(*name, user.pw_name) != 0) return 0;
    }
    return 1;
}
