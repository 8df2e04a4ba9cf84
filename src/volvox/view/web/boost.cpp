// What Boost.Asio and Boost.Beast have beside templates, compiled once: it took a second of every file that uses them
// (CMakeLists.txt defines BOOST_ASIO_SEPARATE_COMPILATION and the like).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
